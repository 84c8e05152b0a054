/**
 * The outbox holds deliveries that leave the database (a reply to a channel, a webhook, an e-mail).
 * The causing transaction inserts them; they are delivered afterwards, tried again with growing
 * pauses, and put aside with a reason when that is hopeless.
 */
import { redactText } from "#base/log.ts";
import { cleanJson } from "#base/text/clean-text.ts";
import type { Deliverer } from "../feature.ts";
import type { OutboxRow } from "../schema.ts";
import type { Engine, Work } from "../work.ts";
import { listDue, markDelivered, markFailed, putOutbox, takeOutbox } from "./queries.ts";

export const MAX_DELIVERIES = 10;
/** Time after which another server may try a delivery that has not reported back. */
const DELIVERY_LIMIT_MS = 60_000;
const BACKOFF_FIRST_MS = 1_000;
const BACKOFF_MAX_MS = 60 * 60_000;
const BATCH = 20;

export async function sendLater(
  work: Work,
  orgId: string,
  kind: string,
  causeKey: string,
  payload: unknown,
): Promise<void> {
  await putOutbox(work.tx, {
    id: work.ids.mint("out"),
    org_id: orgId,
    kind,
    cause_key: causeKey,
    payload: cleanJson(payload),
    state: "pending",
    attempts: 0,
    due_at: work.now,
    last_error: null,
    created_at: work.now,
    delivered_at: null,
  });
}

export function backoffMs(attempts: number): number {
  return Math.min(BACKOFF_FIRST_MS * 2 ** (attempts - 1), BACKOFF_MAX_MS);
}

export async function deliverDue(
  engine: Engine,
  deliverers: Readonly<Record<string, Deliverer>>,
  now: number,
): Promise<number> {
  const due = await engine.store.read((reader) => listDue(reader, now, BATCH));
  await Promise.all(due.map((row) => deliverOne(engine, deliverers[row.kind], row)));
  return due.length;
}

async function deliverOne(
  engine: Engine,
  deliver: Deliverer | undefined,
  row: OutboxRow,
): Promise<void> {
  const takenUntil = await engine.store.transaction(async (tx) => {
    const until = tx.now + DELIVERY_LIMIT_MS;
    return (await takeOutbox(tx, row.id, row.due_at, until)) ? until : null;
  });
  if (takenUntil === null) return;
  let failure: string | null = null;
  try {
    if (!deliver) throw new Error(`nothing delivers ${row.kind}`);
    await deliver(JSON.parse(row.payload), row.cause_key);
  } catch (error) {
    failure = redactText(error instanceof Error ? error.message : String(error)).slice(0, 1_000);
  }
  await engine.store.transaction((tx) => {
    if (failure === null) return markDelivered(tx, row.id);
    const attempts = row.attempts + 1;
    return markFailed(tx, {
      id: row.id,
      takenUntil,
      state: attempts >= MAX_DELIVERIES ? "dead" : "pending",
      error: failure,
      dueAt: tx.now + backoffMs(attempts),
    });
  });
}
