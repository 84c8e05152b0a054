/** Stops turns, and changes a session's lifecycle. */
import { Refusal } from "#base/refusal.ts";
import { listLiveRuns } from "#engine/runs/queries.ts";
import {
  type LifecycleEvent,
  mayTransitionSession,
  transitionSession,
} from "#engine/transitions/session-transitions.ts";
import type { ChildrenFate, SessionWriter, WakeAnswer, Work } from "#engine/work.ts";
import type { Author, Lifecycle } from "#protocol/sessions.ts";
import { listWaiting } from "../prompts/prompt-queries.ts";
import { listChildren } from "../queries.ts";
import { cutTurn } from "../turns/cut-turn.ts";
import { pump, settlePrompt } from "../turns/turns.ts";
import { findRoom } from "./ceilings.ts";
import { setLifecycle } from "./set-lifecycle.ts";

/** Ends every running turn; queued prompts stay. */
export async function stopTurns(work: Work, session: SessionWriter): Promise<void> {
  const live = await listLiveRuns(work.tx, session.row.id);
  for (const run of live) await cutTurn(work, session, run, "stop", null);
}

/** Event that leads to a requested lifecycle. */
const EVENT_FOR: Record<Lifecycle, LifecycleEvent> = {
  active: "wake",
  hibernated: "sleep",
  archived: "archive",
  terminated: "terminate",
};

export async function changeLifecycle(
  work: Work,
  session: SessionWriter,
  to: Lifecycle,
): Promise<void> {
  const { row } = session;
  const from = row.lifecycle;
  if (from === to) return;
  const event = EVENT_FOR[to];
  if (!mayTransitionSession(row, event)) {
    throw new Refusal(
      "conflict",
      "session_not_active",
      `A session that is ${from} cannot become ${to}. Start a new one.`,
    );
  }
  if (to === "active") await requireMayWake(work, session, "user");
  // A listener has brought the session back already.
  if ((row.lifecycle as Lifecycle) === to) return;
  await setLifecycle(work, session, event);
  if (to === "active") await pump(work, session);
}

/** Reason why the session must not be active again now; asked before its own row is changed. */
export async function refusesToWake(
  work: Work,
  session: SessionWriter,
  by: Author["kind"],
): Promise<Refusal | null> {
  const answer: WakeAnswer = { refusal: null };
  await work.emit({ type: "session_waking", session, by, answer });
  if (answer.refusal) return answer.refusal;
  // An archived session counts against the ceiling when it is really taken up again; see
  // `requireMayWake`.
  if (session.row.lifecycle !== "hibernated") return null;
  return findRoom(work, session.row, { mayMakeRoom: by !== "system" });
}

async function requireMayWake(
  work: Work,
  session: SessionWriter,
  by: Author["kind"],
): Promise<void> {
  const isArchived = session.row.lifecycle === "archived";
  const refusal =
    (await refusesToWake(work, session, by)) ??
    (isArchived ? await findRoom(work, session.row, { mayMakeRoom: by !== "system" }) : null);
  if (refusal) throw refusal;
}

export interface EndSession {
  to: "archived" | "terminated" | "hibernated";
  /** Stops a running turn; without it a busy session refuses. */
  force: boolean;
  /** Fate of an archived session's children; undefined for the default. */
  children?: ChildrenFate | undefined;
}

export async function endSession(
  work: Work,
  session: SessionWriter,
  { to, force, children }: EndSession,
): Promise<void> {
  if (session.row.run_state !== null && !force) {
    throw new Refusal(
      "conflict",
      "session_busy",
      "A turn is running. Stop it first, or use force to stop it now.",
    );
  }
  // Collected prompts have no turn yet, and only the next prompt would wake the session.
  if (to === "hibernated" && session.row.waiting > 0) {
    throw new Refusal(
      "conflict",
      "session_busy",
      "Prompts are queued. Let them run or withdraw them first.",
    );
  }
  if (to === "archived") await work.emit({ type: "session_archiving", session, force, children });
  // The lifecycle changes first, so that ending one turn does not start the next.
  await changeLifecycle(work, session, to);
  await stopTurns(work, session);
  if (to === "hibernated") return;
  for (const prompt of await listWaiting(work.tx, session.row.id)) {
    await settlePrompt(work, session, prompt, null, {
      outcome: "aborted",
      error: {
        code: "session_ended",
        message: `The session was ${to} before this prompt could start.`,
      },
    });
  }
}

/**
 * Terminates a session and everything below it. The session ends first, so that its ending children
 * begin no turn in it.
 */
export async function terminateTree(work: Work, session: SessionWriter): Promise<void> {
  if (session.row.lifecycle !== "terminated")
    await endSession(work, session, { to: "terminated", force: true });
  for (const child of await listChildren(work.tx, session.row.id)) {
    if (child.lifecycle === "terminated") continue;
    const writer = await work.session(child.id);
    if (writer) await terminateTree(work, writer);
  }
}

/** Stops an orchestrator's turns and counts one more incarnation; nothing in its queue is lost. */
export async function restart(work: Work, session: SessionWriter): Promise<void> {
  const { row } = session;
  if (row.lifecycle === "hibernated") await changeLifecycle(work, session, "active");
  Object.assign(row, transitionSession(row, "restart", work.now));
  const { incarnation, lifecycle } = row;
  session.record({
    type: "session_updated",
    reason: "restarted",
    data: { lifecycle, from: lifecycle, incarnation },
  });
  await stopTurns(work, session);
}

/**
 * Brings back a session that never ends for good: its history, its threads and its children stay,
 * and it is one incarnation older. The session sleeps until somebody speaks to it.
 */
export async function revive(
  work: Work,
  session: SessionWriter,
  to: "active" | "hibernated" = "active",
): Promise<void> {
  const { row } = session;
  if (row.lifecycle === to) return;
  const from = row.lifecycle;
  const event = to === "active" ? "revive" : "revive_asleep";
  Object.assign(row, transitionSession(row, event, work.now));
  const { incarnation } = row;
  session.record({
    type: "session_updated",
    reason: "restarted",
    data: { lifecycle: to, from, incarnation },
  });
  await work.emit({ type: "session_lifecycle", session, from });
  if (to === "active") await pump(work, session);
}
