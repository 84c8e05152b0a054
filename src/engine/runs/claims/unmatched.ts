/**
 * Ends runs that no runner can take. Work waits without limit for a busy runner, and for the
 * machine that holds its files; but when runners are connected and none that was seen lately could
 * take it, five minutes are enough.
 */
import { forEachIndependently } from "#engine/for-each-independently.ts";
import type { RunnerRow } from "#engine/schema.ts";
import { findPrompt } from "#engine/sessions/prompts/prompt-queries.ts";
import { answerOpenCalls } from "#engine/sessions/turns/cut-turn.ts";
import { settleRun } from "#engine/sessions/turns/turns.ts";
import { command, type Engine } from "#engine/work.ts";
import { findRun } from "../queries.ts";
import { capabilitiesOf, wasSeenLately } from "../runners/runner-capabilities.ts";
import { listRunners } from "../runners/runner-queries.ts";
import { fits, requirementsOf } from "./fit.ts";
import {
  listWaitingRequirements,
  listWaitingWith,
  type WaitingRequirements,
} from "./waiting-run-queries.ts";

export const NO_MATCH_AFTER_MS = 5 * 60_000;
const BATCH = 200;

/** Returns the number of ended runs. */
export async function failUnmatched(engine: Engine, now: number): Promise<number> {
  const before = now - NO_MATCH_AFTER_MS;
  // Runs with the same requirements fit the same runners: each kind is checked once, however many
  // wait.
  const demands = await engine.store.read((reader) => listWaitingRequirements(reader, before));
  const runners = new Map<string, RunnerRow[]>();
  let failed = 0;
  for (const demand of demands) {
    const { org_id: orgId, demand_key: requirementsKey } = demand;
    const known =
      runners.get(orgId) ?? (await engine.store.read((reader) => listRunners(reader, orgId)));
    runners.set(orgId, known);
    if (!isUnmatched(known, demand, now)) continue;
    const runs = await engine.store.read((reader) =>
      listWaitingWith(reader, { requirementsKey, before, limit: BATCH }),
    );
    await forEachIndependently(runs, async ({ id, session_id }) => {
      failed += await failRun(engine, id, session_id);
    });
  }
  return failed;
}

/** Exported for its test: a table of connected and earlier runners. */
export function isUnmatched(
  runners: readonly RunnerRow[],
  requirements: Omit<WaitingRequirements, "demand_key">,
  now: number,
): boolean {
  const isSomeoneHere = runners.some(({ state, ready }) => state === "online" && ready === 1);
  if (!isSomeoneHere) return false;
  const isHope = (runner: RunnerRow) =>
    // The machine with the session's files may stay away for long: its session waits or is
    // relocated.
    runner.id === requirements.pinned_runner_id || wasSeenLately(runner, now);
  return !runners.some(
    (runner) => isHope(runner) && fits(capabilitiesOf(runner), requirementsOf(requirements)),
  );
}

async function failRun(engine: Engine, runId: string, sessionId: string): Promise<number> {
  return command(engine, async (work) => {
    const session = await work.sessionWithParent(sessionId);
    const run = session && (await findRun(work.tx, runId));
    const prompt = run && (await findPrompt(work.tx, run.prompt_id));
    if (!session || !run || !prompt || run.state !== "pending") return 0;
    await answerOpenCalls(work, session, run);
    await settleRun(work, session, prompt, run, {
      outcome: "failed",
      error: {
        code: "no_matching_runner",
        message: `No runner meets the requirements of this run (runtime ${run.runtime}, requirements ${run.demands}). Add one that does, then send it again.`,
      },
    });
    return 1;
  });
}
