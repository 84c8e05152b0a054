/**
 * Handing on: the runs that a settlement has just made ready, such as the turn of a parent that is to
 * hear of it, are claimed in the same transaction by the runner that settles, if it has places free.
 * They need no second commit and no look at the queue. A runner with free places has left nothing
 * waiting that it could take, so nobody is overtaken; one without is given what is oldest, as ever.
 */
import type { Work } from "../work.ts";
import { type ClaimContext, claimOne, placesOf } from "./claim.ts";
import { fits, requirementsOf } from "./fit.ts";

/** The sessions of these runs are locked already, because the command has made the runs. */
export async function claimFollowUps(work: Work, context: ClaimContext): Promise<void> {
  const { runner, capabilities, free } = context;
  if (work.begun.length === 0) return;
  let places = await placesOf(work, runner, free);
  for (const run of [...work.begun]) {
    if (places <= 0) break;
    if (!fits(capabilities, requirementsOf(run))) continue;
    if (!(await claimOne(work, run.id, run.session_id, context))) continue;
    places -= 1;
    work.begun.splice(work.begun.indexOf(run), 1);
  }
}
