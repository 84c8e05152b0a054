/** Invariants of a session's rows between two commands. */
import type { Tx } from "#base/store/index.ts";
import type { GateRow, PromptRow, RunRow, SessionRow } from "#engine/schema.ts";
import type { World } from "../world.ts";
import { isAnswered, type Model, must, type PromptModel, settledForm } from "./model.ts";

const MAX_WAITING = 100;
const RUN_STATE_PRIORITY = ["gated", "stopping", "running", "claimed", "pending"];

type Unsettled = Pick<PromptRow, "id" | "thread" | "state" | "author_kind" | "started_at"> & {
  run_state: RunRow["state"] | null;
  run_attempts: number | null;
};

export function createRowChecks(world: World, model: Model) {
  /** Checks a written row against its earlier value. */
  function promptRow(row: PromptRow, edited: ReadonlySet<string>): void {
    const prompt = model.prompt(row.id);
    const what = `prompt ${row.id}`;
    if (prompt.settledAs !== null) {
      must(prompt.settledAs === settledForm(row), () => `${what} changed after its end`);
      return;
    }
    if (row.content !== prompt.content) {
      must(edited.has(row.id), () => `${what} changed its content and nobody edited it`);
      must(world.oracle.mayRead(row.id, row.content), () => `${what} has words nobody sent`);
      must(!prompt.isStarted, () => `${what} was edited after it began`);
      prompt.content = row.content;
    }
    must(row.attachments === prompt.attachments, () => `${what} changed its attachments`);
    must(prompt.isStarted === (row.started_at !== null), () => `${what}: history and row disagree`);
    must(
      (row.state === "settled") === (prompt.outcome !== null) && row.outcome === prompt.outcome,
      () => `${what} is ${row.state} with ${row.outcome}; its log says ${prompt.outcome}`,
    );
    if (row.outcome === null) return;
    prompt.settledAs = settledForm(row);
    outcome(row, prompt);
  }

  function outcome(row: PromptRow, prompt: PromptModel): void {
    const what = `prompt ${row.id}`;
    const run = model.runs.get(row.run_id);
    if (row.outcome === "withdrawn" || row.outcome === "merged")
      must(!prompt.isStarted && !run, () => `${what} is ${row.outcome} and has run`);
    if (row.outcome === "superseded") superseded(row);
    else if (row.outcome === "aborted")
      must(run?.stopReason !== "steer", () => `${what} was steered and is aborted`);
    if (row.outcome === "completed" && row.content.trim() !== "/clear")
      must(run, () => `${what} is completed and never ran`);
    if (row.outcome === "merged") merged(row);
    const isOpen = (gate: GateRow) => gate.prompt_id === row.id && gate.state === "pending";
    must(![...model.gates.values()].some(isOpen), () => `${what} ended with a gate open`);
  }

  function superseded(row: PromptRow): void {
    const what = `prompt ${row.id}`;
    const run = model.run(row.run_id);
    must(row.superseded_by !== null, () => `${what} is superseded by nobody`);
    const by = model.prompt(row.superseded_by);
    // A turn that waits for its next attempt is ended, not told to stop.
    must(run.stopReason === "steer" || run.stopReason === null, () => `${what} was not steered`);
    must(run.stopBy === null || run.stopBy === by.id, () => `${what} was steered by ${run.stopBy}`);
    must(
      by.mode === "steer" || by.isPromoted,
      () => `${what} is superseded by ${by.id} (${by.mode})`,
    );
  }

  function merged(row: PromptRow): void {
    const into = model.prompt(row.merged_into);
    const says = into.content.includes(JSON.stringify(row.content));
    if (!says && model.gatesOf(into.id).some((gate) => isAnsweredBy(gate, row))) return;
    must(
      says && into.mergedFrom.includes(row.id) && into.thread === row.thread,
      () => `prompt ${row.id} is not in ${into.id}, which it was merged into`,
    );
  }

  function gateRow(row: GateRow): void {
    const before = model.gates.get(row.id);
    const what = `gate ${row.id}`;
    if (before === undefined)
      must(model.prompt(row.prompt_id).outcome === null, () => `${what} was opened after the end`);
    const { told_fence: told, ...said } = row;
    const { told_fence: toldBefore, ...saidBefore } = before ?? row;
    must(
      before === undefined ||
        before.state === "pending" ||
        JSON.stringify(saidBefore) === JSON.stringify(said),
      () => `${what} was ${before?.state} and became ${row.state} (${row.decided_by})`,
    );
    // An attempt that was given back before its runner got it was sent nothing.
    const wasHeard = model.heard.has(`${row.run_id}#${toldBefore}`);
    must(
      toldBefore === null || toldBefore === told || (told === null && !wasHeard),
      () => `${what} was first told to #${toldBefore}, then to #${told}`,
    );
    if (told === null) model.told.delete(row.id);
    must(told === null || isAnswered(row), () => `${what} is ${row.state} and was told`);
    model.gates.set(row.id, row);
  }

  function runRow(row: RunRow): void {
    const run = model.runs.get(row.id);
    if (!run) return;
    must(
      row.fence === run.fence,
      () => `run ${row.id}: fence ${row.fence}, claimed as ${run.fence}`,
    );
    must(row.journaled === run.journaled, () => `run ${row.id}: ${row.journaled} journaled`);
    must(
      row.attempts === run.attempts,
      () => `run ${row.id}: ${row.attempts} attempts, not ${run.attempts}`,
    );
    const isWaiting = row.state === "pending" || (row.state === "gated" && run.parked === "gate");
    must(
      !isWaiting || (row.runner_id === null && row.lease_until === null),
      () => `run ${row.id} is ${row.state} and ${row.runner_id} has it until ${row.lease_until}`,
    );
    must(
      !run.isHeld || row.runner_id === run.runnerId,
      () => `run ${row.id} is held by ${run.runnerId}; ${row.runner_id} is kept`,
    );
    for (const gate of model.gatesOf(row.prompt_id)) {
      must(
        !run.isWaiting || row.state !== "pending" || gate.state !== "pending",
        () => `run ${row.id} goes on, and ${gate.id} has no answer`,
      );
      must(
        gate.told_fence === (model.told.get(gate.id) ?? null),
        () => `gate ${gate.id} says that #${gate.told_fence} was told`,
      );
    }
    if (row.lease_until === run.leaseUntil) return;
    run.leaseUntil = row.lease_until;
    run.renewedAt = world.scheduler.now;
  }

  async function session(tx: Tx, row: SessionRow): Promise<Unsettled[]> {
    const unsettled = await tx.query<Unsettled>({
      sql: `select p.id, p.thread, p.state, p.author_kind, p.started_at, r.state as run_state, r.attempts as run_attempts
            from prompts p left join runs r on r.id = p.run_id
            where p.session_id = ? and p.state <> 'settled'`,
      parameters: [row.id],
    });
    const live = await tx.query<Pick<RunRow, "id" | "thread" | "state" | "runner_id">>({
      sql: "select id, thread, state, runner_id from runs where session_id = ? and state in ('pending', 'claimed', 'running', 'gated', 'stopping')",
      parameters: [row.id],
    });
    const waiting = unsettled.filter((p) => p.state === "queued" || p.state === "collecting");
    const what = `session ${row.id}`;
    must(
      row.waiting === waiting.length,
      () => `${what} counts ${row.waiting} of ${waiting.length} waiting`,
    );
    if (row.lifecycle === "hibernated")
      must(
        // Platform prompts wait while the limit of awake sessions leaves no room.
        waiting.every(({ author_kind }) => author_kind === "system") && live.length === 0,
        () => `${what} sleeps; ${waiting.length} prompts wait, ${live.length} runs are live`,
      );
    if (row.exclusive === 1) must(live.length <= 1, () => `${what} has ${live.length} live runs`);
    const threads = new Set(live.map((run) => run.thread));
    must(threads.size === live.length, () => `${what} has two live runs in a thread`);
    const telling =
      RUN_STATE_PRIORITY.find((state) => live.some((run) => run.state === state)) ?? null;
    must(
      row.run_state === telling,
      () => `${what} shows ${row.run_state}; its runs are ${telling}`,
    );
    for (const run of live)
      if (run.state !== "pending") {
        const { isHeld, parked } = model.run(run.id);
        const isParked = run.state === "gated" && parked === "gate" && run.runner_id === null;
        must(isHeld || isParked, () => `run ${run.id} is ${run.state} and nobody holds it`);
      }
    for (const prompt of unsettled) unsettledPrompt(prompt);
    queueMoves(row, waiting, threads);
    await collectTimers(tx, row, waiting);
    return unsettled;
  }

  function unsettledPrompt(prompt: Unsettled): void {
    const { id, state, run_state: runState, run_attempts: attempts } = prompt;
    const what = `prompt ${id} is ${state}, its run ${runState}`;
    const isLive = runState !== null && RUN_STATE_PRIORITY.includes(runState);
    if (state === "queued" || state === "collecting")
      must(!model.prompt(id).isStarted, () => `${what}, and it is in history`);
    if (state === "collecting") must(runState === null, () => what);
    else if (state === "queued")
      must(runState === null || (runState === "pending" && attempts === 0), () => what);
    else must(isLive, () => what);
    if (state === "gated") must(runState === "gated" || runState === "stopping", () => what);
    if (runState === "gated") {
      const open = [...model.gates.values()].some(
        (g) => g.prompt_id === id && g.state === "pending",
      );
      must(state === "gated" && open, () => `${what}, and gate open: ${open}`);
    }
  }

  /** A command that makes room starts the next prompt: nothing is queued behind nothing. */
  function queueMoves(
    row: SessionRow,
    waiting: readonly Unsettled[],
    busy: ReadonlySet<string>,
  ): void {
    const perThread = new Map<string, number>();
    for (const { id, state, thread, author_kind: author } of waiting) {
      if (author !== "system") perThread.set(thread, (perThread.get(thread) ?? 0) + 1);
      if (state !== "queued" || row.lifecycle !== "active") continue;
      const blocked = row.exclusive === 1 ? busy.size > 0 : busy.has(thread);
      must(blocked, () => `prompt ${id} waits and nothing is in its way`);
    }
    for (const [thread, count] of perThread)
      must(count <= MAX_WAITING, () => `${count} prompts wait in ${row.id}/${thread}`);
  }

  async function collectTimers(
    tx: Tx,
    row: SessionRow,
    waiting: readonly Unsettled[],
  ): Promise<void> {
    for (const thread of new Set(
      waiting.filter((p) => p.state === "collecting").map((p) => p.thread),
    )) {
      const timers = await tx.query<{ id: string }>({
        sql: "select id from timers where kind = 'collect' and subject = ?",
        parameters: [`${row.id}/${thread}`],
      });
      must(
        timers.length === 1,
        () => `prompts are collected in ${row.id}/${thread} without a timer`,
      );
    }
  }

  return { promptRow, gateRow, runRow, session };
}

/** True if the prompt's text answered the question that the turn had open, in the same thread. */
function isAnsweredBy({ state, kind, thread, decision }: GateRow, row: PromptRow): boolean {
  if (state !== "decided" || kind !== "question" || thread !== row.thread) return false;
  const { answers } = JSON.parse(decision ?? "{}") as { answers?: string[] | null };
  return answers?.includes(row.content.trim()) ?? false;
}
