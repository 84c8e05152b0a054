/** What a runner's row says of the work it can take. */
import type { RunnerRow } from "../schema.ts";
import type { RunnerOffer } from "./fit.ts";

export function offerOf(row: RunnerRow): RunnerOffer {
  return {
    id: row.id,
    orgId: row.org_id,
    scope: row.scope,
    hostname: row.hostname,
    projectDir: row.project_dir,
    profile: row.profile,
    tags: JSON.parse(row.tags) as string[],
    runtimes: JSON.parse(row.runtimes) as string[],
  };
}

/** A runner that was here so lately is expected back; one that was not is no hope. */
const SEEN_LATELY_MS = 60 * 60_000;

/** Tells runners that may be back soon from those that nobody counts on any more. */
export function wasSeenLately({ state, last_seen_at }: RunnerRow, now: number): boolean {
  return state !== "offline" || now - last_seen_at < SEEN_LATELY_MS;
}
