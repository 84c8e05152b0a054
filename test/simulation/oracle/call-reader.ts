/**
 * Follows the requests of turns: verdicts, gates and their decisions, parks, and the location of
 * files.
 */
import type { EventRow, GateRow, RunRow } from "#engine/schema.ts";
import type { Decision } from "#protocol/frames.ts";
import type { Verdict } from "#protocol/sessions.ts";
import { firstRule, isJudged, type Rule, targetOf, WITH_FILES } from "../judging.ts";
import type { World } from "../world.ts";
import {
  type Batch,
  isAllowed,
  isAnswered,
  type Model,
  must,
  type PromptModel,
  type RunModel,
  type SessionModel,
} from "./model.ts";

const MAX_PAUSE_MS = 24 * 3_600_000;

interface CallData {
  callId?: string;
  verdict?: Verdict;
}

export function createCallReader(world: World, model: Model) {
  // Calls

  function called(session: SessionModel, event: EventRow): void {
    const prompt = model.prompt(event.prompt_id);
    const { callId = "", verdict } = dataOf(event);
    prompt.openCalls.add(callId);
    if (!isJudged(callId)) {
      must(!verdict, () => `call ${callId} of ${prompt.id} was judged and did not ask`);
      return;
    }
    const tool = event.tool_name ?? "";
    const expected = ruleFor(session, prompt, tool, event.tool_input ?? "null");
    must(
      verdict?.verdict === expected,
      () =>
        `call ${callId} of ${prompt.id} (${tool}) was judged ${verdict?.verdict}, not ${expected}`,
    );
    must(!prompt.verdicts.has(callId), () => `call ${callId} of ${prompt.id} was journaled twice`);
    prompt.verdicts.set(callId, JSON.stringify(verdict));
  }

  /** A denial holds for the rest of the turn, and asking requires a person. */
  function ruleFor(session: SessionModel, prompt: PromptModel, tool: string, input: string): Rule {
    const rule = firstRule(tool, JSON.parse(input));
    if (rule !== "ask") return rule;
    const target = targetOf(JSON.parse(input));
    const isSame = ({ tool: asked, target: of, shown }: GateRow) =>
      asked === tool &&
      ((target !== null && of === target) ||
        JSON.stringify((JSON.parse(shown) as { input?: unknown }).input) === input);
    const denied = model
      .gatesOf(prompt.id)
      .some((gate) => isAnswered(gate) && !isAllowed(gate) && isSame(gate));
    return denied || session.ownerId === null ? "deny" : "ask";
  }

  function answered(event: EventRow): void {
    const { callId = "" } = dataOf(event);
    const wasOpen = model.prompt(event.prompt_id).openCalls.delete(callId);
    must(wasOpen, () => `call ${callId} of ${event.prompt_id} has two results`);
  }

  /** A turn that its runner did not end must leave no call without a result. */
  function ended(run: RunModel, row: RunRow): void {
    const prompt = model.prompt(run.promptId);
    must(row.result !== null || prompt.openCalls.size === 0, () => {
      const open = [...prompt.openCalls].join(", ");
      return `run ${run.id} was ended (${row.outcome}, ${row.error_code}) and leaves ${open} open`;
    });
    if (row.outcome !== "completed") return;
    for (const gate of model.gatesOf(prompt.id))
      must(
        !prompt.parkedFor.has(gate.call_id) || model.told.has(gate.id),
        () => `run ${run.id} is completed and was never told of ${gate.id} (${gate.state})`,
      );
  }

  // Parking

  function parked({ runs }: Batch, event: EventRow): void {
    const run = model.run(event.run_id);
    const row = runs.get(run.id);
    const kind = event.reason as "gate" | "pause";
    const what = `run ${run.id}#${run.fence}, parked (${kind})`;
    must(run.isHeld, () => `${what}: nobody holds it`);
    must(run.stopReason === null, () => `${what}: it was told to stop`);
    run.isHeld = false;
    run.parked = kind;
    // A parked attempt is not counted, and progress ends a row of strikes.
    run.attempts -= 1;
    if (run.journaled > 0) Object.assign(run, { strikes: 0, blameless: 0 });
    must(
      row && row.runner_id === null && row.lease_until === null,
      () => `${what}: ${row?.runner_id} has it until ${row?.lease_until}`,
    );
    must(row.strikes === run.strikes, () => `${what}: ${row.strikes} strikes, not ${run.strikes}`);
    model.seen[kind === "pause" ? "pauses" : "parks"] += 1;
    if (kind === "pause") paused(event, row);
    else waits(event, run, row);
  }

  function paused(event: EventRow, row: RunRow): void {
    const { message = "" } = JSON.parse(event.data ?? "{}") as { message?: string };
    const waitMs = Math.min(Number(message.split(" ")[1]), MAX_PAUSE_MS);
    const until = world.clock.now() + waitMs;
    must(
      row.state === "pending" && row.available_at === until,
      () => `run ${row.id} pauses until ${until}: ${row.state} until ${row.available_at}`,
    );
    must(row.pause !== null, () => `run ${row.id} pauses and does not say why`);
  }

  function waits(event: EventRow, run: RunModel, row: RunRow): void {
    const prompt = model.prompt(event.prompt_id);
    const { callId = "" } = dataOf(event);
    const gate = model.gatesOf(prompt.id).find((one) => one.call_id === callId);
    must(gate, () => `run ${row.id} waits for ${callId} and nobody is asked`);
    prompt.parkedFor.add(callId);
    run.isWaiting = gate.state === "pending";
    if (!run.isWaiting) model.seen.deaf += 1;
    const state = run.isWaiting ? "gated" : "pending";
    must(row.state === state, () => `run ${row.id} waits for ${gate.state}: ${row.state}`);
  }

  // Claims

  function mayBeClaimed(session: SessionModel, row: RunRow | undefined, runnerId: string): void {
    must(row, () => `a run of ${session.id} was claimed and has no row`);
    const now = world.clock.now();
    must(
      row.available_at <= now,
      () => `run ${row.id} was claimed ${row.available_at - now} ms too early`,
    );
    const pin = model.pins.get(row.id);
    if (pin !== undefined) model.seen.pinned += 1;
    must(
      pin === undefined || pin === runnerId,
      () => `run ${row.id} was claimed by ${runnerId}, and its files are at ${pin}`,
    );
  }

  /** Every decision is sent to every later attempt, and marked as news for the first only. */
  function decisionsFor(promptId: string, fence: number): string {
    const decisions = model
      .gatesOf(promptId)
      .filter(isAnswered)
      .map((gate) => {
        const first = firstTold(gate, promptId) ?? fence;
        must(
          gate.told_fence === first,
          () => `gate ${gate.id} was first told to #${first}; ${gate.told_fence} is kept`,
        );
        if (model.told.has(gate.id)) model.seen.toldAgain += 1;
        else if (gate.state === "expired") model.seen.expired += 1;
        model.told.set(gate.id, first);
        const { answers = null } = JSON.parse(gate.decision ?? "{}") as { answers?: string[] };
        const allowed = isAllowed(gate);
        return { callId: gate.call_id, allowed, answers, fresh: first === fence };
      });
    return decisionsText(decisions);
  }

  /** An attempt whose runner was never told of it does not count: none of it can have begun. */
  function firstTold(gate: GateRow, promptId: string): number | undefined {
    const told = model.told.get(gate.id);
    const wasHeard = model.heard.has(`${model.prompt(promptId).runId}#${told}`);
    if (told !== undefined && !wasHeard && gate.told_fence !== told) model.told.delete(gate.id);
    return model.told.get(gate.id);
  }

  // Location of files

  function created({ session }: Batch, event: EventRow): void {
    const id = event.run_id ?? "";
    if (session.keeper === null) model.pins.delete(id);
    else model.pins.set(id, session.keeper);
  }

  /** The machine that held the files is gone for good. */
  function filesLost({ session }: Batch): void {
    session.keeper = null;
    for (const { runId } of model.promptsOf(session.id)) model.pins.delete(runId);
  }

  async function bound({ tx, session }: Batch, event: EventRow): Promise<void> {
    const { executorSessionId } = JSON.parse(event.data ?? "{}") as { executorSessionId?: string };
    if (!executorSessionId?.startsWith(WITH_FILES)) return;
    const { id, runnerId } = model.run(event.run_id);
    session.keeper = runnerId;
    session.keepers.add(runnerId);
    model.pins.set(id, runnerId);
    const rows = await tx.query<{ runner_id: string }>({
      sql: "select runner_id from workspaces where session_id = ?",
      parameters: [session.id],
    });
    must(
      rows.length === 1 && rows[0]?.runner_id === runnerId,
      () => `the files of ${session.id} are at ${runnerId}; ${rows[0]?.runner_id} is kept`,
    );
  }

  return { called, answered, ended, parked, mayBeClaimed, decisionsFor, created, bound, filesLost };
}

function dataOf({ data }: EventRow): CallData {
  return JSON.parse(data ?? "{}") as CallData;
}

export function decisionsText(decisions: readonly Omit<Decision, "reason">[]): string {
  return decisions
    .map(({ callId, allowed, answers, fresh }) => JSON.stringify([callId, allowed, answers, fresh]))
    .sort()
    .join(" ");
}
