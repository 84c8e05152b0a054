/** Attachments of prompts, and the hash by which a repeated prompt is recognised. */
import { createHash } from "node:crypto";
import { cleanText } from "#base/text/clean-text.ts";
import type { SessionRow } from "#engine/schema.ts";
import type { Work } from "#engine/work.ts";
import type { Attachment, QueueMode } from "#protocol/sessions.ts";
import { keepBlob } from "../log/blob-queries.ts";

export interface BlobInput {
  name: string;
  mediaType: string;
  data: Buffer;
}

export async function keepAttachments(
  work: Work,
  { id: sessionId, org_id }: SessionRow,
  blobs: readonly BlobInput[],
): Promise<Attachment[]> {
  const kept: Attachment[] = [];
  for (const { name, mediaType, data } of blobs) {
    const sha256 = createHash("sha256").update(data).digest("hex");
    const blob = { org_id, sha256, size: data.length, media_type: mediaType, data };
    await keepBlob(work.tx, { ...blob, created_at: work.now }, sessionId);
    kept.push({ name: cleanText(name), mediaType, size: data.length, sha256 });
  }
  return kept;
}

/** Hash of what makes two prompts the same: content, thread, mode and attachments. */
export function hashOf(input: {
  content: string;
  thread: string;
  mode: QueueMode | undefined;
  attachments: readonly BlobInput[];
}): string {
  const hash = createHash("sha256").update(
    JSON.stringify([input.content, input.thread, input.mode ?? null]),
  );
  for (const { name, mediaType, data } of input.attachments)
    hash.update(`\0${name}\0${mediaType}\0`).update(data);
  return hash.digest("base64url");
}
