/**
 * Finds sessions whose turns wait for a machine that has been gone for five minutes. Each gets one
 * entry in its own log, and its parent is notified; the turn waits on until the machine is back or
 * somebody relocates the session.
 */
import { forEachIndependently } from "#engine/for-each-independently.ts";
import { command, type Engine, type SessionWriter, type Work } from "#engine/work.ts";
import {
  findWorkspace,
  listLongOffline,
  upsertWorkspace,
  type WaitingForMachine,
} from "#engine/workspaces/queries.ts";
import { findRun } from "../queries.ts";
import { findRunner } from "../runners/runner-queries.ts";

const GONE_AFTER_MS = 5 * 60_000;
const BATCH = 200;

export async function notifyMachinesGone(engine: Engine, now: number): Promise<void> {
  const waiting = await engine.store.read((reader) =>
    listLongOffline(reader, now - GONE_AFTER_MS, BATCH),
  );
  await forEachIndependently(waiting, (one) => notifyGone(engine, one));
}

async function notifyGone(
  engine: Engine,
  { session_id, run_id }: WaitingForMachine,
): Promise<void> {
  await command(engine, async (work) => {
    const session = await work.sessionWithParent(session_id);
    const run = session && (await findRun(work.tx, run_id));
    const workspace = session && (await findWorkspace(work.tx, session_id));
    if (run?.state !== "pending" || !workspace || workspace.offline_at !== null) return;
    if (run.pinned_runner_id !== workspace.runner_id) return;
    const runner = await findRunner(work.tx, workspace.runner_id);
    if (runner && runner.state !== "offline") return;
    await upsertWorkspace(work.tx, { ...workspace, offline_at: work.now });
    appendGoneNotice(work, session, run.thread);
    await work.emit({ type: "workspace_offline", session, run });
  });
}

function appendGoneNotice(work: Work, session: SessionWriter, thread: string): void {
  session.record({
    type: "notice",
    thread,
    entryId: work.ids.mint("ent"),
    kind: "notice",
    role: "system",
    content: [
      {
        type: "text",
        text: "The machine with this session's files has been offline for 5 minutes. The turn waits for it. Start its runner again, or continue on another machine with the recorded changes.",
      },
    ],
    reason: "workspace_offline",
  });
}
