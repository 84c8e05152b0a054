/**
 * Runs that no runner can ever take. Work waits without limit for a runner that is busy or away;
 * but when runners are here and none that is known could take it, five minutes are enough.
 */
import { answerOpenCalls } from "../sessions/cut-turn.ts";
import { findPrompt } from "../sessions/prompt-queries.ts";
import { settleRun } from "../sessions/turns.ts";
import { command, type Engine } from "../work.ts";
import { fits, wishOf } from "./fit.ts";
import { findRun, listWaitingSince } from "./queries.ts";
import { listRunners } from "./runner-queries.ts";
import { offerOf } from "./runners.ts";

export const NO_MATCH_AFTER_MS = 5 * 60_000;
const BATCH = 200;

export async function failUnmatched(engine: Engine, now: number): Promise<number> {
  const overdue = await engine.store.read((reader) =>
    listWaitingSince(reader, now - NO_MATCH_AFTER_MS, BATCH),
  );
  let failed = 0;
  for (const ready of overdue) {
    const runners = await engine.store.read((reader) => listRunners(reader, ready.org_id));
    const wish = wishOf(ready);
    const someoneIsHere = runners.some(({ state, ready }) => state === "online" && ready === 1);
    if (!someoneIsHere || runners.some((runner) => fits(offerOf(runner), wish))) continue;
    failed += await command(engine, async (work) => {
      const session = await work.family(ready.session_id);
      const run = session && (await findRun(work.tx, ready.id));
      const prompt = run && (await findPrompt(work.tx, run.prompt_id));
      if (!session || !run || !prompt || run.state !== "pending") return 0;
      await answerOpenCalls(work, session, run);
      await settleRun(work, session, prompt, run, {
        outcome: "failed",
        error: {
          code: "no_matching_runner",
          message: `No runner offers what this run asks for (runtime ${run.runtime}, demands ${run.demands}). Add one that does, then send it again.`,
        },
      });
      return 1;
    });
  }
  return failed;
}
