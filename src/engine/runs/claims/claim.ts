/**
 * Claims the oldest waiting runs that fit a runner, each with a fresh fence and a lease. The caller
 * reserves places on the runner first, and each claimed run is assigned when the claim is durable.
 */
import type { RunnerRow } from "#engine/schema.ts";
import { command, type Engine, type Work } from "#engine/work.ts";
import { countHeldBy, listReady, lockFreeSessions, type ReadyRun } from "../queries.ts";
import { capabilitiesOf } from "../runners/runner-capabilities.ts";
import { listRunners } from "../runners/runner-queries.ts";
import { type ClaimContext, claimRun } from "./claim-run.ts";
import { fits, type RunnerCapabilities, requirementsOf } from "./fit.ts";

const PAGE = 32;
const MAX_PAGES = 8;
/** Time for which a run is left to other runners than the one that lost it. */
const LEFT_TO_OTHERS_MS = 10_000;

export function claimRuns(engine: Engine, context: ClaimContext): Promise<void> {
  const { runner, capabilities, free } = context;
  return command(engine, async (work) => {
    let places = await placesOf(work, runner, free);
    const search = new Search(capabilities);
    for (let page = 0; page < MAX_PAGES && places > 0; page++) {
      const { fitting, exhausted } = await nextFitting(work, search);
      places -= await claimAll(work, fitting.slice(0, places), context);
      if (exhausted) break;
    }
  });
}

/** Counts in the database, because a runner that comes back may not know of all its runs. */
async function placesOf(work: Work, runner: RunnerRow, free: number): Promise<number> {
  return Math.min(free, runner.capacity - (await countHeldBy(work.tx, runner.id)));
}

/** Results of one search for work, kept from page to page. */
class Search {
  readonly capabilities: RunnerCapabilities;
  readonly seen = new Set<string>();
  /** Requirements that this runner cannot meet; their runs are not looked at again. */
  readonly unfit = new Set<string>();
  /** Runs that this runner has lost, and that another one can take now. */
  readonly leftToOthers = new Set<string>();
  #others: readonly RunnerRow[] | undefined;

  constructor(capabilities: RunnerCapabilities) {
    this.capabilities = capabilities;
  }

  /** Other runners that may take work now; read only when needed. */
  async others({ tx }: Work): Promise<readonly RunnerRow[]> {
    this.#others ??= (await listRunners(tx, this.capabilities.orgId)).filter(
      ({ id, state, ready }) => id !== this.capabilities.id && state === "online" && ready === 1,
    );
    return this.#others;
  }
}

async function nextFitting(work: Work, search: Search) {
  const { capabilities, seen, unfit, leftToOthers } = search;
  const learntBefore = unfit.size + leftToOthers.size;
  const wanted = { runnerId: capabilities.id, now: work.now, limit: PAGE };
  const page = await listReady(work.tx, wanted, [...unfit], [...leftToOthers]);
  const fitting: ReadyRun[] = [];
  for (const run of page.filter(({ id }) => !seen.has(id))) {
    seen.add(run.id);
    if (!fits(capabilities, requirementsOf(run))) unfit.add(run.demand_key);
    else if (await isLeftToOthers(work, search, run)) leftToOthers.add(run.id);
    else fitting.push(run);
  }
  // Nothing new was learnt, so the next page would be the same.
  const hasLearnt = unfit.size + leftToOthers.size > learntBefore;
  return { fitting, exhausted: page.length < PAGE && !hasLearnt };
}

/** The runner that lost a run is the last to get it back while another one could take it. */
async function isLeftToOthers(work: Work, search: Search, run: ReadyRun): Promise<boolean> {
  if (run.lost_runner_id !== search.capabilities.id) return false;
  if (work.now >= run.available_at + LEFT_TO_OTHERS_MS) return false;
  const others = await search.others(work);
  return others.some((other) => fits(capabilitiesOf(other), requirementsOf(run)));
}

/** Returns the number of claimed runs. */
async function claimAll(
  work: Work,
  wanted: readonly ReadyRun[],
  context: ClaimContext,
): Promise<number> {
  if (wanted.length === 0) return 0;
  const sessions = wanted.map((run) => run.session_id);
  const free = await lockFreeSessions(work.tx, sessions);
  let claimed = 0;
  for (const { id, session_id } of wanted)
    if (free.has(session_id) && (await claimRun(work, id, session_id, context))) claimed += 1;
  return claimed;
}

/**
 * Claims the runs that a settlement has just made ready, such as the turn of a parent that is
 * notified of it, in the same transaction and for the runner that settles. They need no second
 * commit and no look at the queue. A runner with free places has left nothing waiting that it could
 * take, so nobody is overtaken; a runner without any gets the oldest run, as always. The sessions
 * of these runs are locked already, because the command has made the runs.
 */
export async function claimFollowUps(work: Work, context: ClaimContext): Promise<void> {
  const { runner, capabilities, free } = context;
  if (work.newRuns.length === 0) return;
  let places = await placesOf(work, runner, free);
  for (const run of [...work.newRuns]) {
    if (places <= 0) break;
    if (!fits(capabilities, requirementsOf(run))) continue;
    if (!(await claimRun(work, run.id, run.session_id, context))) continue;
    places -= 1;
    work.newRuns.splice(work.newRuns.indexOf(run), 1);
  }
}
