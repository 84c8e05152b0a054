/** Wakes a sleeping session for a prompt, or refuses the prompt. */
import { Refusal } from "#base/refusal.ts";
import { transitionSession } from "#engine/transitions/session-transitions.ts";
import type { SessionWriter, Work } from "#engine/work.ts";
import type { Author, Lifecycle } from "#protocol/sessions.ts";
import { refusesToWake } from "../lifecycle/lifecycle.ts";

export async function wakeOrRefuse(
  work: Work,
  session: SessionWriter,
  by: Author["kind"],
): Promise<void> {
  const { row } = session;
  if (row.lifecycle === "active") return;
  const isAsleep = row.lifecycle === "hibernated";
  const refusal = await refusesToWake(work, session, by);
  // A listener has brought the session back.
  if ((row.lifecycle as Lifecycle) === "active") return;
  // Prompts of the system wait in the queue until the session is active again.
  if (by === "system" && (row.lifecycle === "archived" || (isAsleep && refusal))) return;
  if (refusal) throw refusal;
  if (isAsleep) {
    Object.assign(row, transitionSession(row, "wake", work.now));
    session.record({ type: "session_updated", reason: "woken", data: { lifecycle: "active" } });
    await work.emit({ type: "session_lifecycle", session, from: "hibernated" });
    return;
  }
  throw new Refusal(
    "conflict",
    "session_not_active",
    `This session is ${row.lifecycle}. Start a new one, or wake it first.`,
  );
}
