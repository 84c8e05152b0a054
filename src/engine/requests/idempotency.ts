/**
 * Carries out a request that is sent twice only once: its key is kept in the transaction that
 * carries it out, with the id of what it made, so nothing can fall between the two.
 */
import { createHash } from "node:crypto";
import { Refusal } from "#base/refusal.ts";
import type { Work } from "../work.ts";
import { findIdempotencyKey, keepIdempotencyKey } from "./idempotency-queries.ts";

export const KEY_KEPT_MS = 7 * 24 * 60 * 60_000;

export interface IdempotentRequest {
  key: string;
  /** Hash of the request, so that the key cannot stand for another one. */
  fingerprint: string;
}

export function fingerprintOf(...parts: string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
}

/** Id of what an earlier request with this key made; undefined for the first request. */
export async function findRepeated(
  work: Work,
  caller: string,
  request: IdempotentRequest | undefined,
  resource: string,
): Promise<string | undefined> {
  if (!request) return undefined;
  const isNew = await keepIdempotencyKey(work.tx, {
    principal: caller,
    key: request.key,
    fingerprint: request.fingerprint,
    resource,
    created_at: work.now,
  });
  if (isNew) return undefined;
  const known = await findIdempotencyKey(work.tx, caller, request.key);
  if (known && known.fingerprint !== request.fingerprint) {
    throw new Refusal(
      "conflict",
      "idempotency_conflict",
      "This Idempotency-Key was used for a different request. Use a new key for a new request.",
    );
  }
  return known?.resource;
}
