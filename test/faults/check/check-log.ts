/** One session's log: no gaps, every write under the claim in force, one run at a time. */
import type { SessionEvent } from "#protocol/events.ts";
import type { ObservedSession } from "../history.ts";

/** Shortens the list: one broken promise usually causes many violations of its kind. */
export function firstOf(violations: string[], limit = 5): string[] {
  if (violations.length <= limit) return violations;
  return [...violations.slice(0, limit), `… and ${violations.length - limit} more like the last`];
}

interface RunHistory {
  id: string;
  /** Only one run with the same key may be held at a time. */
  place: string;
  fence: number;
  held: boolean;
  settled: boolean;
}

export function checkLog(session: ObservedSession): string[] {
  return [...checkSeq(session), ...firstOf(checkClaims(session)), ...checkTranscript(session)];
}

function checkSeq({ id, log, lastSeq }: ObservedSession): string[] {
  const at = log.findIndex(({ event }, n) => event.seq !== n + 1);
  if (at !== -1) return [`gap: ${id} has ${log[at]?.event.seq} where ${at + 1} should be`];
  return log.length === lastSeq ? [] : [`gap: ${id} ends at ${log.length} of ${lastSeq}`];
}

const JOURNALED = new Set(["message", "pre_tool", "post_tool", "notice"]);
/** Events that only a runner writes, and that have no role. */
const RUNNERS_OWN = new Set(["run_bound", "run_parked", "model_call", "workspace_changed"]);

/**
 * True for a runner's writes. Only the holder of the run may write, so each must lie inside a
 * claim.
 */
function isJournal({ type, role, runId }: SessionEvent): boolean {
  // The server adds to a turn with the role "system".
  if (runId === null || role === "system") return false;
  return RUNNERS_OWN.has(type) || (role === "assistant" && JOURNALED.has(type));
}

function checkClaims({ id, log, isParallel = false }: ObservedSession): string[] {
  const runs = new Map<string, RunHistory>();
  const violations: string[] = [];
  for (const { event } of log) {
    const { runId, seq } = event;
    if (runId === null) continue;
    const place = isParallel ? (event.thread ?? "") : "";
    const run = runs.get(runId) ?? { id: runId, place, fence: 0, held: false, settled: false };
    runs.set(runId, run);
    follow(run, event, runs, (what) => violations.push(`${id} #${seq}: ${runId} ${what}`));
  }
  for (const [runId, { held }] of runs)
    if (held) violations.push(`${id}: ${runId} is held to the end`);
  return violations;
}

type Say = (what: string) => void;

function follow(
  run: RunHistory,
  event: SessionEvent,
  runs: ReadonlyMap<string, RunHistory>,
  say: Say,
): void {
  const { type } = event;
  if (run.settled && (isJournal(event) || type.startsWith("run_")))
    say(`has ${type} after its end`);
  if (isJournal(event) && !run.held) say(`has ${type} while nobody holds it`);
  if (type === "run_claimed") claim(run, event, runs, say);
  if (type === "run_lost") lose(run, event, say);
  if (type === "run_parked") run.held = false;
  if (type === "run_settled") Object.assign(run, { held: false, settled: true });
}

function claim(
  run: RunHistory,
  { data }: SessionEvent,
  runs: ReadonlyMap<string, RunHistory>,
  say: Say,
): void {
  if (run.held) say("is claimed twice at once");
  const other = [...runs.values()].find(
    ({ id, held, place }) => held && id !== run.id && place === run.place,
  );
  if (other) say(`is claimed while ${other.id} is held`);
  if (data?.fence !== run.fence + 1) say(`is claimed with fence ${data?.fence} after ${run.fence}`);
  run.fence = Number(data?.fence);
  run.held = true;
}

function lose(run: RunHistory, { data }: SessionEvent, say: Say): void {
  if (!run.held) say("is lost while nobody holds it");
  if (data?.fence !== run.fence)
    say(`is lost with fence ${data?.fence}, claimed with ${run.fence}`);
  run.held = false;
}

/** The transcript has each entry of the log once. */
function checkTranscript({ id, log, transcript }: ObservedSession): string[] {
  const logged = log.flatMap(({ event }) => (event.entryId === null ? [] : [event]));
  const violations: string[] = [];
  if (new Set(logged.map(({ entryId }) => entryId)).size !== logged.length)
    violations.push(`transcript: ${id} has an entry twice`);
  const same =
    transcript.length === logged.length &&
    transcript.every((entry, n) => entry.seq === logged[n]?.seq && entry.id === logged[n]?.entryId);
  if (!same) {
    violations.push(
      `transcript: ${id} shows ${transcript.length} entries, its log has ${logged.length}`,
    );
  }
  return violations;
}
