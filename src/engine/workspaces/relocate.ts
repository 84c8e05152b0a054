/**
 * Relocates a session whose machine is gone: its next workspace is made anew on whichever runner
 * takes its turn, from the repository and the recorded changes. The old workspace no longer counts:
 * should its machine come back, its files are removed there, and its later writes are stale.
 */
import { Refusal } from "#base/refusal.ts";
import { storedRepositoryAddress } from "#protocol/names/repository-address.ts";
import { MAIN_THREAD } from "#protocol/sessions.ts";
import { exactPatch, type WorkspaceChanges } from "#protocol/workspaces.ts";
import { endUnusedApprovals } from "../gates/gates.ts";
import { fits, requirementsKey, requirementsOf, sessionRequirements } from "../runs/claims/fit.ts";
import { EXPIRY_MARGIN_MS } from "../runs/leases/leases.ts";
import { loseRun } from "../runs/leases/lose-run.ts";
import { findRun, listLiveRuns, saveRun } from "../runs/queries.ts";
import { findRunner, listRunnerAvailability } from "../runs/runners/runner-queries.ts";
import type { RunnerRow, RunRow, SessionRow, WorkspaceRow } from "../schema.ts";
import type { SessionWriter, Work } from "../work.ts";
import { findWorkspace, upsertWorkspace } from "./queries.ts";

/** File names that the text lists; the rest is counted. */
const MAX_NAMED = 20;

/** Relocates a session, which must be locked, with its parent. */
export async function relocateSession(work: Work, session: SessionWriter): Promise<void> {
  const { row } = session;
  const workspace = await findWorkspace(work.tx, row.id);
  if (workspace?.left_at != null) return;
  requireMovable(row, workspace);
  await requireElsewhere(work, row, workspace.runner_id);
  const live = await listLiveRuns(work.tx, row.id);
  requireGone(await findRunner(work.tx, workspace.runner_id), live, work.now);
  requireNoPendingGate(live);
  await leaveWorkspace(work, session, workspace);
}

/**
 * A machine that works on a turn and has a lease may only have lost its connection, or its server:
 * it is back in a moment, with work that is recorded nowhere else.
 */
function requireGone(runner: RunnerRow | undefined, live: readonly RunRow[], now: number): void {
  if (!runner) return;
  const mayBeAtWork = live.some(
    ({ runner_id, lease_until }) =>
      runner_id === runner.id && (lease_until ?? 0) + EXPIRY_MARGIN_MS > now,
  );
  if (runner.state === "offline" && !mayBeAtWork) return;
  throw new Refusal(
    "conflict",
    "workspace_online",
    mayBeAtWork
      ? "The machine with this session's files may still be working on its turn. If it is still offline in half a minute, try again."
      : "The machine with this session's files is connected, so the session continues there.",
  );
}

/** Lets the session begin anew elsewhere, with the recorded changes of this workspace. */
export async function leaveWorkspace(
  work: Work,
  session: SessionWriter,
  workspace: WorkspaceRow,
): Promise<void> {
  const live = await listLiveRuns(work.tx, session.row.id);
  await upsertWorkspace(work.tx, { ...workspace, left_at: work.now, offline_at: null });
  const noticeText = relocationText(workspace);
  for (const run of live) {
    await endUnusedApprovals(work, run.prompt_id);
    await unpin(work, session, run, workspace.runner_id, noticeText);
  }
  // Without a turn that continues, the next one reads the notice in its history.
  if (live.every(({ state }) => state === "gated"))
    recordNotice(work, session, noticeText, { thread: MAIN_THREAD });
  work.tx.afterCommit(() => work.announcer.runsReady());
}

/** True for a session in a folder of a machine, which no other machine has. */
export function isInFolder({ repo, may_use_path, project_dir }: SessionRow): boolean {
  const isOnPath = repo !== null && storedRepositoryAddress(repo).kind === "path";
  return may_use_path === 1 && (isOnPath || project_dir !== null);
}

function requireMovable(
  row: SessionRow,
  workspace: WorkspaceRow | undefined,
): asserts workspace is WorkspaceRow {
  if (row.lifecycle === "archived" || row.lifecycle === "terminated")
    throw new Refusal(
      "conflict",
      "session_not_active",
      `This session is ${row.lifecycle}. Wake it first, or start a new one.`,
    );
  if (!workspace)
    throw new Refusal(
      "conflict",
      "workspace_missing",
      "This session has no files on any machine. Its next turn can run on any suitable runner.",
    );
  if (isInFolder(row))
    throw new Refusal(
      "conflict",
      "workspace_not_movable",
      "This session works in a folder of that machine, which no other machine has. Start the runner there again, or start a new session.",
    );
}

/** A session that requires a machine or a folder by name moves only to a runner that has it too. */
async function requireElsewhere(work: Work, row: SessionRow, goneId: string): Promise<void> {
  const demands = sessionRequirements(row);
  if (demands.hostname === undefined && demands.projectDir === undefined) return;
  const { org_id: orgId, owner_id: ownerId, runtime } = row;
  const requirements = { orgId, ownerId, runtime, demands, pinnedRunnerId: null };
  const standings = await listRunnerAvailability(work.tx, orgId);
  if (standings.some(({ id, capabilities }) => id !== goneId && fits(capabilities, requirements)))
    return;
  const wanted = [
    ...(demands.hostname === undefined ? [] : [`the machine ${demands.hostname}`]),
    ...(demands.projectDir === undefined ? [] : [`the folder ${demands.projectDir}`]),
  ].join(" and ");
  throw new Refusal(
    "conflict",
    "workspace_not_movable",
    `This session needs ${wanted}, which no other runner has. Start the runner there again, or start a new session.`,
  );
}

/**
 * Refuses while a gate is pending: a person decides about the call as shown, on the machine it was
 * made for.
 */
function requireNoPendingGate(live: readonly RunRow[]): void {
  if (live.every(({ state }) => state !== "gated")) return;
  throw new Refusal(
    "conflict",
    "session_busy",
    "The session is waiting for an answer. Answer it or stop the turn first, then continue on another machine.",
  );
}

/** Takes the run from the machine that is gone, and lets any other take it. */
async function unpin(
  work: Work,
  session: SessionWriter,
  found: RunRow,
  runnerId: string,
  noticeText: string,
): Promise<void> {
  // Until its lease ends the machine may be in the middle of a step, though it can write nothing.
  const leaseEnd = found.runner_id === null ? 0 : (found.lease_until ?? 0) + EXPIRY_MARGIN_MS;
  if (found.runner_id !== null) await loseRun(work, session, found, "relocated");
  const run = await findRun(work.tx, found.id);
  if (run?.state !== "pending" && run?.state !== "gated") return;
  if (run.pinned_runner_id === runnerId) run.pinned_runner_id = null;
  run.demand_key = requirementsKey(requirementsOf(run));
  if (run.state === "gated") return void (await saveRun(work.tx, run));
  run.available_at = Math.max(run.available_at, leaseEnd);
  await saveRun(work.tx, run);
  const { thread, prompt_id: promptId, id: runId } = run;
  if (run.fence === 0) return recordNotice(work, session, noticeText, { thread });
  // The notice is part of the turn: the next attempt reads it behind the earlier entries.
  recordNotice(work, session, noticeText, { thread, promptId, runId });
}

function recordNotice(
  work: Work,
  session: SessionWriter,
  text: string,
  place: { thread: string; promptId?: string; runId?: string },
): void {
  session.record({
    type: "notice",
    ...place,
    entryId: work.ids.mint("ent"),
    kind: "notice",
    role: "assistant",
    content: [{ type: "text", text }],
    reason: "workspace_relocated",
    data: { forModel: true },
  });
}

/** Text for people and for the agent, which must not take the new files for the ones it left. */
function relocationText({ changes }: WorkspaceRow): string {
  const { files, more } = recordedOf(changes);
  const carried = files.filter((file) => exactPatch(file) !== null).map(({ path }) => path);
  const left = files.filter((file) => exactPatch(file) === null).map(({ path }) => path);
  const lines = [
    "[workspace] The machine with this session's files is gone. The session continues on another one, in a new workspace.",
    carried.length === 0
      ? "There were no recorded changes to restore: the workspace is as it was at the start."
      : `Restored, as of the end of the last turn: ${listed(carried)}.`,
  ];
  if (left.length > 0 || more > 0)
    lines.push(
      `Not restored, because they are binary, not UTF-8, too long or too many: ${listed(left, more)}.`,
    );
  lines.push(
    "Lost with the machine: later changes, commits that were not pushed, ignored and installed files, and running processes. Check the files before you continue.",
  );
  return lines.join("\n");
}

function listed(paths: readonly string[], more = 0): string {
  const named = paths.slice(0, MAX_NAMED).map((path) => JSON.stringify(path));
  const rest = paths.length - named.length + more;
  if (rest > 0) named.push(`${rest} more`);
  return named.join(", ");
}

export function recordedOf(changes: string | null): WorkspaceChanges {
  return changes === null
    ? { files: [], more: 0, additions: 0, deletions: 0 }
    : (JSON.parse(changes) as WorkspaceChanges);
}
