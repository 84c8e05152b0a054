/** Resumes paused turns whose machine can continue: it has a sandbox now, or room on its disk. */
import type { Log } from "#base/log.ts";
import { forEachIndependently } from "#engine/for-each-independently.ts";
import { command, type Engine } from "#engine/work.ts";
import { findRun, listPausedFor, saveRun } from "../queries.ts";

const BATCH = 500;

export interface ResumeHost {
  engine: Engine;
  log: Log;
}

/**
 * Queues turns that were paused with this code now, instead of at the end of their pause. They may
 * be many, so nobody waits for it; if it fails, each continues at the end of its pause.
 */
export function resumeSoon({ engine, log }: ResumeHost, orgId: string, code: string): void {
  resumePaused(engine, orgId, code).catch((error: unknown) =>
    log.warn({ err: error }, "paused turns could not be put in line"),
  );
}

async function resumePaused(engine: Engine, orgId: string, code: string): Promise<void> {
  let after = "";
  for (;;) {
    const from = after;
    const waiting = await engine.store.read((reader) =>
      listPausedFor(reader, { orgId, code, after: from, limit: BATCH }),
    );
    await forEachIndependently(waiting, ({ id, session_id }) => resumeOne(engine, id, session_id));
    if (waiting.length < BATCH) return;
    after = waiting.at(-1)?.id ?? "";
  }
}

async function resumeOne(engine: Engine, runId: string, sessionId: string): Promise<void> {
  await command(engine, async (work) => {
    const session = await work.session(sessionId);
    const run = session && (await findRun(work.tx, runId));
    if (run?.state !== "pending" || run.pause === null) return;
    run.available_at = work.now;
    await saveRun(work.tx, run);
    work.tx.afterCommit(() => work.announcer.runsReady());
  });
}
