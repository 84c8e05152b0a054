/**
 * The digest: one unread message that names the sessions completed since the person last read one.
 * Only people who turned it on get it. Each update rebuilds its text from the messages about the
 * sessions.
 */
import type { SessionRow, Work } from "#engine/index.ts";
import { listDoneSince } from "../inbox/inbox-queries.ts";
import { findPreferences } from "../inbox/preference-queries.ts";
import { findByCause, forgetCause, saveReplacement } from "../queries.ts";
import type { MessageRow } from "../schema.ts";
import { sessionSide, userSide } from "../sending/sides.ts";
import { hintMessage, isCounted, writeMessage } from "../sending/write-message.ts";
import { wantsDigest } from "./channels.ts";

const NAMED = 50;

/** Runs under the inbox lock, after the message about this session was written. */
export async function addToDigest(
  work: Work,
  session: SessionRow & { owner_id: string },
): Promise<void> {
  const person = { orgId: session.org_id, userId: session.owner_id };
  if (!wantsDigest(await findPreferences(work.tx, person))) return;
  const causeKey = `digest:${person.orgId}:${person.userId}`;
  const last = await findByCause(work.tx, causeKey);
  const open = last && isCounted(last) ? last : undefined;
  const done = await listDoneSince(work.tx, person, {
    since: open?.created_at ?? work.now,
    limit: NAMED + 1,
  });
  const content = digestText(done);
  if (open) {
    await saveReplacement(work.tx, { ...open, content, surfaced_at: work.now });
    hintMessage(work, person.userId, open.id);
    return;
  }
  if (last) await forgetCause(work.tx, last.id);
  await writeMessage(work, {
    orgId: session.org_id,
    from: { ...(await sessionSide(work.tx, session, "main")), name: "Digest" },
    to: await userSide(work.tx, session.owner_id),
    type: "notification",
    event: "session.digest",
    content,
    causeKey,
  });
}

function digestText(done: readonly Pick<MessageRow, "from_name">[]): string {
  const named = done.slice(0, NAMED).map(({ from_name }) => `- ${oneLine(from_name)}`);
  const more = done.length > NAMED ? ["- and more"] : [];
  const count = done.length > NAMED ? `More than ${NAMED} sessions` : `${done.length} sessions`;
  const head = done.length === 1 ? "1 session completed:" : `${count} completed:`;
  return [head, "", ...named, ...more].join("\n");
}

function oneLine(name: string): string {
  return name.replace(/\s+/g, " ");
}
