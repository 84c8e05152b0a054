/** Parses the parts of a runner's row that decide which work it can take. */
import type { RunnerRow } from "#engine/schema.ts";
import type { RunnerCapabilities } from "../claims/fit.ts";

type CapabilityRow = Pick<
  RunnerRow,
  "id" | "org_id" | "scope" | "hostname" | "project_dir" | "profile" | "tags" | "runtimes"
>;

export function capabilitiesOf(row: CapabilityRow): RunnerCapabilities {
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

/** Columns of a runner that runs are matched against; not its models, which may be many. */
export const AVAILABILITY_COLUMNS = [
  "id",
  "org_id",
  "scope",
  "hostname",
  "project_dir",
  "profile",
  "tags",
  "runtimes",
  "state",
  "ready",
  "disk",
] as const;

/** A runner as runs are matched against it: parsed once, however many runs there are. */
export interface RunnerAvailability {
  id: string;
  state: RunnerRow["state"];
  isReady: boolean;
  isDiskLow: boolean;
  capabilities: RunnerCapabilities;
}

export function availabilityOf(
  row: Pick<RunnerRow, (typeof AVAILABILITY_COLUMNS)[number]>,
): RunnerAvailability {
  const disk = row.disk === null ? null : (JSON.parse(row.disk) as { isLow?: boolean });
  return {
    id: row.id,
    state: row.state,
    isReady: row.ready === 1,
    isDiskLow: disk?.isLow ?? false,
    capabilities: capabilitiesOf(row),
  };
}

/** A runner seen this recently is expected back; others are not. */
const SEEN_LATELY_MS = 60 * 60_000;

/** True for a runner that is connected or may be back soon. */
export function wasSeenLately({ state, last_seen_at }: RunnerRow, now: number): boolean {
  return state !== "offline" || now - last_seen_at < SEEN_LATELY_MS;
}
