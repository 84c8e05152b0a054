/** Follows the sessions' logs: each event must fit the events before it. */
import type { Tx } from "#base/store/index.ts";
import { fits, requirementsOf } from "#engine/runs/claims/fit.ts";
import { capabilitiesOf } from "#engine/runs/runners/runner-capabilities.ts";
import type { EventRow, OutboxRow, PromptRow, RunnerRow, RunRow } from "#engine/schema.ts";
import type { World } from "../world.ts";
import { createCallReader } from "./call-reader.ts";
import {
  authorKey,
  type Batch,
  isOrchestrator,
  type Model,
  must,
  type PromptModel,
  type RunModel,
  type SessionModel,
} from "./model.ts";

/** Time during which a run is left to runners other than the one whose lease on it ended. */
const LEFT_TO_OTHERS_MS = 10_000;

type Reader = (batch: Batch, event: EventRow) => void | Promise<void>;

export function createLogReader(world: World, model: Model) {
  const calls = createCallReader(world, model);
  const readers: Partial<Record<EventRow["type"], Reader>> = {
    prompt_accepted: accepted,
    prompt_edited: ({ edited }, event) => {
      edited.add(event.prompt_id ?? "");
    },
    prompt_promoted: (_batch, event) => {
      model.prompt(event.prompt_id).isPromoted = true;
    },
    prompt_settled: settled,
    message: entry,
    pre_tool: (batch, event) => {
      calls.called(batch.session, event);
      entry(batch, event);
    },
    post_tool: (batch, event) => {
      calls.answered(event);
      entry(batch, event);
    },
    notice: (batch, event) => {
      if (event.reason === "workspace_relocated") {
        calls.filesLost(batch);
        // Written by the server itself, within the turn in progress.
        if (event.prompt_id !== null)
          model.prompt(event.prompt_id).entries.push(event.entry_id ?? "");
      }
      entry(batch, event);
    },
    session_updated: updated,
    run_created: calls.created,
    run_bound: calls.bound,
    run_parked: calls.parked,
    run_claimed: claimed,
    run_stopping: stopping,
    run_lost: lost,
    run_settled: runSettled,
  };

  async function read(batch: Batch, event: EventRow): Promise<void> {
    const { session } = batch;
    session.lastSeq += 1;
    must(
      event.seq === session.lastSeq,
      () => `session ${session.id}: seq ${event.seq} follows ${session.lastSeq - 1}`,
    );
    const { reason, prompt_id: prompt, run_id: run } = event;
    world.note(`  ${session.id} ${event.seq} ${event.type} ${prompt ?? run ?? ""} ${reason ?? ""}`);
    await readers[event.type]?.(batch, event);
  }

  function accepted(batch: Batch, event: EventRow): void {
    const { session } = batch;
    const id = event.prompt_id ?? "";
    const row = batch.prompts.get(id);
    must(row, () => `prompt ${id} was accepted and has no row`);
    must(!model.prompts.has(id), () => `prompt ${id} was accepted twice`);
    const { mergedFrom = [] } = JSON.parse(event.data ?? "{}") as { mergedFrom?: string[] };
    session.arrivals += 1;
    model.prompts.set(id, {
      id,
      session: session.id,
      thread: row.thread,
      order: Math.max(
        ...(mergedFrom.length > 0
          ? mergedFrom.map((from) => model.prompt(from).order)
          : [session.arrivals]),
      ),
      mode: row.mode,
      runId: row.run_id,
      isPromoted: false,
      isStarted: false,
      outcome: null,
      content: row.content,
      attachments: row.attachments,
      author: authorKey(row),
      mergedFrom,
      settledAs: null,
      entries: [],
      verdicts: new Map(),
      openCalls: new Set(),
      parkedFor: new Set(),
    });
  }

  async function settled({ tx, session, prompts }: Batch, event: EventRow): Promise<void> {
    const prompt = model.prompt(event.prompt_id);
    const row = prompts.get(prompt.id);
    const { outcome } = JSON.parse(event.data ?? "{}") as { outcome: PromptModel["outcome"] };
    must(prompt.outcome === null, () => `prompt ${prompt.id} was settled twice`);
    must(
      row?.outcome === outcome,
      () => `prompt ${prompt.id}: ${outcome} told, ${row?.outcome} kept`,
    );
    prompt.outcome = outcome;
    const outbox = await tx.query<Pick<OutboxRow, "id">>({
      sql: "select id from outbox where cause_key = ?",
      parameters: [`settled:${prompt.id}`],
    });
    must(outbox.length === 1, () => `prompt ${prompt.id}: its consequence is not in the outbox`);
    await checkCallback(tx, session, row);
  }

  /** One command may wake a session and begin its next turn. */
  function updated(batch: Batch, event: EventRow): void {
    const { lifecycle } = JSON.parse(event.data ?? "{}") as { lifecycle?: string };
    const { id, lifecycle: before } = batch.session;
    must(
      before !== "terminated" || (lifecycle ?? before) === before || isOrchestrator(id),
      () => `${id} was terminated, and is ${lifecycle} again`,
    );
    batch.session.lifecycle = lifecycle ?? batch.session.lifecycle;
    asleep(batch, event);
  }

  /** The clock may put a session to sleep only after it was unused for long enough. */
  function asleep({ session }: Batch, event: EventRow): void {
    if (event.reason !== "hibernated") return;
    const { why } = JSON.parse(event.data ?? "{}") as { why?: string };
    if (why === "made_room") madeRoom(session);
    if (why === "made_room" || session.isSentToSleep) return;
    const idleMs = world.clock.now() - session.updatedAt;
    must(
      idleMs > world.odds.idleMs,
      () => `session ${session.id} fell asleep after ${idleMs} ms of ${world.odds.idleMs}`,
    );
    model.seen.asleep += 1;
  }

  /**
   * Made room for another session of the same person, who has reached the limit of awake sessions.
   */
  function madeRoom({ id, ownerId }: SessionModel): void {
    const awake = [...model.sessions.values()].filter(
      (one) => one.ownerId === ownerId && one.lifecycle === "active" && !isOrchestrator(one.id),
    );
    must(
      awake.length + 1 >= world.server.kernel.engine.defaults.limits.activePerUser,
      () => `session ${id} was put to sleep for room, and only ${awake.length + 1} were awake`,
    );
    model.seen.madeRoom += 1;
  }

  /** A run with a callback notifies its parent once, in the transaction that ended it. */
  async function checkCallback(tx: Tx, session: SessionModel, row: PromptRow): Promise<void> {
    const { executionMode } = JSON.parse(row.run_options ?? "{}") as { executionMode?: string };
    if (executionMode !== "async_callback") return;
    const told = await tx.query<Pick<PromptRow, "session_id">>({
      sql: "select session_id from prompts where cause_key = ?",
      parameters: [`callback:${row.run_id}`],
    });
    const notices = await tx.query<{ seq: number }>({
      sql: "select seq from events where session_id = ? and prompt_id = ? and reason = 'callback_undeliverable'",
      parameters: [session.id, row.id],
    });
    must(
      told.length + notices.length === 1,
      () =>
        `run ${row.run_id} (${row.outcome}) reported ${told.length} times to its parent, with ${notices.length} notices`,
    );
    must(
      told.every((prompt) => prompt.session_id === session.parentId),
      () => `run ${row.run_id} reported to a stranger`,
    );
  }

  function entry(batch: Batch, event: EventRow): void {
    if (event.kind === "prompt") {
      started(batch, event);
      return;
    }
    const [, fence, ordinal] = (event.entry_id ?? "").split(".");
    if (fence === undefined || ordinal === undefined) return;
    const run = model.run(event.run_id);
    const what = `entry ${event.entry_id}`;
    must(run.isHeld, () => `${what}: written to a run that nobody holds`);
    must(run.fence === Number(fence), () => `${what}: written under fence ${run.fence}`);
    run.journaled += 1;
    must(run.journaled === Number(ordinal), () => `${what}: comes as number ${run.journaled}`);
    model.prompt(event.prompt_id).entries.push(event.entry_id ?? "");
  }

  function started({ session }: Batch, event: EventRow): void {
    const prompt = model.prompt(event.prompt_id);
    must(!prompt.isStarted, () => `prompt ${prompt.id} entered history twice`);
    must(prompt.outcome === null, () => `prompt ${prompt.id} began after its end`);
    must(
      session.lifecycle === "active",
      () => `prompt ${prompt.id} began while ${session.lifecycle}`,
    );
    const isAhead = prompt.isPromoted || prompt.mode === "steer" || prompt.mode === "interrupt";
    prompt.isStarted = true;
    if (isAhead) return;
    for (const other of model.promptsOf(session.id)) {
      const waits = !other.isStarted && other.outcome === null && queued.has(other.id);
      const isBefore = other.order < prompt.order || other.isPromoted;
      if (waits && isBefore && other.thread === prompt.thread)
        must(false, () => `prompt ${prompt.id} overtook ${other.id}`);
    }
  }

  async function claimed({ tx, session, runs }: Batch, event: EventRow): Promise<void> {
    const { fence, runnerId, attempt } = JSON.parse(event.data ?? "{}") as {
      fence: number;
      runnerId: string;
      attempt: number;
    };
    const id = event.run_id ?? "";
    const prompt = model.prompt(event.prompt_id);
    const before = model.runs.get(id);
    must(
      fence === (before?.fence ?? 0) + 1,
      () => `run ${id}: fence ${fence} after ${before?.fence}`,
    );
    must(!before?.isHeld, () => `run ${id} was claimed while it is held`);
    must(
      attempt === (before?.attempts ?? 0) + 1,
      () => `run ${id}: attempt ${attempt} after ${before?.attempts}`,
    );
    calls.mayBeClaimed(session, runs.get(id), runnerId);
    must(prompt.outcome === null, () => `run ${id} was claimed after its prompt's end`);
    must(prompt.isStarted, () => `run ${id} was claimed and its prompt is not in history`);
    for (const host of world.hosts) {
      const believed = host.process?.believes(id);
      must(
        believed === undefined ||
          believed >= fence ||
          world.oracle.losses.mayStillBelieve(id, believed),
        () =>
          `run ${id}#${fence} was claimed while ${host.process?.bootId} may write to #${believed}`,
      );
    }
    const row = runs.get(id);
    if (before?.leftBy?.runnerId === runnerId && row) await checkPreference(tx, before, row);
    model.runs.set(id, {
      id,
      promptId: prompt.id,
      session: session.id,
      fence,
      attempts: attempt,
      isHeld: true,
      isSettled: false,
      runnerId,
      serverBoot: row?.server_boot ?? "",
      runnerBoot: row?.runner_boot ?? "",
      leftBy: null,
      journaled: 0,
      strikes: before?.strikes ?? 0,
      blameless: before?.blameless ?? 0,
      stopReason: null,
      stopBy: null,
      leaseUntil: null,
      renewedAt: world.scheduler.now,
      parked: null,
      isWaiting: false,
      decisions: calls.decisionsFor(prompt.id, fence),
    });
    checkCapacity(runnerId);
  }

  /** A runner gets a lost run back only when no other could take it, or did. */
  async function checkPreference(tx: Tx, { leftBy }: RunModel, row: RunRow): Promise<void> {
    if (!leftBy || world.clock.now() >= leftBy.until) return;
    const runners = await tx.query<RunnerRow>({
      sql: "select * from runners where state = 'online' and ready = 1 and id <> ?",
      parameters: [leftBy.runnerId],
    });
    const other = runners.find((runner) => fits(capabilitiesOf(runner), requirementsOf(row)));
    must(!other, () => `run ${row.id} went back to ${leftBy.runnerId}; ${other?.id} was there`);
  }

  function checkCapacity(runnerId: string): void {
    const host = world.hosts.find((candidate) => candidate.runnerId === runnerId);
    const held = [...model.runs.values()].filter((run) => run.isHeld && run.runnerId === runnerId);
    must(host && held.length <= host.profile.capacity, () => {
      const known = host?.process?.wire?.connection.held;
      const runs = held.map(
        ({ id, fence }) => `${id}#${fence}${known?.has(id) ? "" : " (unknown)"}`,
      );
      return `runner ${host?.process?.bootId} was given ${runs.join(", ")}`;
    });
  }

  function stopping(_batch: Batch, event: EventRow): void {
    const run = model.run(event.run_id);
    const { by = null } = JSON.parse(event.data ?? "{}") as { by?: string };
    must(run.isHeld && !run.isSettled, () => `run ${run.id} was told to stop and nobody holds it`);
    run.stopReason = event.reason;
    run.stopBy = by;
  }

  function lost({ runs }: Batch, event: EventRow): void {
    const run = model.run(event.run_id);
    const row = runs.get(run.id);
    must(run.isHeld, () => `run ${run.id} was lost and nobody holds it`);
    run.isHeld = false;
    if (run.stopReason !== null) return;
    const hopeless = world.oracle.losses.count(run, run.runnerBoot, event.reason);
    const kept = `${row?.state}, ${row?.strikes} and ${row?.blameless} kept`;
    must(
      row?.state === (hopeless ? "failed" : "pending") &&
        row.strikes === run.strikes &&
        row.blameless === run.blameless,
      () =>
        `run ${run.id} lost (${event.reason}) with ${run.strikes} strikes and ${run.blameless} blameless losses: ${kept}`,
    );
    const until = row.available_at + LEFT_TO_OTHERS_MS;
    run.leftBy = event.reason === "lease_expired" ? { runnerId: run.runnerId, until } : null;
  }

  function runSettled({ runs }: Batch, event: EventRow): void {
    const row = runs.get(event.run_id ?? "");
    const run = model.runs.get(event.run_id ?? "");
    must(row?.outcome === event.reason, () => `run ${event.run_id}: ${event.reason} is not kept`);
    must(!run?.isSettled, () => `run ${event.run_id} was settled twice`);
    if (!run) return;
    must(
      row.result === null || row.result === `${run.id}#${run.fence}`,
      () => `run ${run.id}#${run.fence} was ended by the word of ${row.result}`,
    );
    calls.ended(run, row);
    run.isSettled = true;
    run.isHeld = false;
  }

  /** Prompts that were queued at the last commit. */
  const queued = new Set<string>();
  return { read, queued };
}
