/**
 * A run held by a runner: a small random script of model steps, tool calls, questions and pauses.
 * It continues where the journal ends, with the decisions that people made meanwhile.
 */
import { INTERRUPTED, type JournalItem, type Settlement } from "#protocol/events.ts";
import {
  type Assignment,
  type CancelReason,
  type ExecutorBinding,
  LEASE_MS,
  type Park,
  type RunnerFrame,
  type ServerFrame,
  STEP_FRESHNESS_MS,
} from "#protocol/frames.ts";
import {
  ASK_TOOL,
  type Call,
  drawCall,
  EFFECT_TOOL,
  judgedCalls,
  judgedId,
  WITH_FILES,
} from "../judging.ts";
import type { World } from "../world.ts";
import type { RunnerProcess } from "./runner-process.ts";
import { moveOf, type OpenCall, TurnCalls } from "./turn-calls.ts";

export interface Ask {
  turn: HeldTurn;
  frame: RunnerFrame;
  sentAt: number;
}

/** Identifies the author of a settlement. */
export function mark({ run, fence }: { run: string; fence: number }): string {
  return `${run}#${fence}`;
}

const PAUSES_MS = [0, 300, 4_000, 40_000];

type Answer = Extract<ServerFrame, { op: "journaled" | "tool_result" | "history" }>;

export class HeldTurn {
  readonly run: string;
  readonly fence: number;
  readonly assignment: Assignment;
  renewedAt: number;
  isOver = false;
  readonly #runner: RunnerProcess;
  /** Everything written under this fence, from ordinal 1 on. */
  readonly #items: JournalItem[] = [];
  #acknowledged = 0;
  #settle: Settlement | undefined;
  #park: Park | undefined;
  #inFlight = false;
  #bind: ExecutorBinding | undefined;
  readonly #calls: TurnCalls;
  #stepsLeft: number;
  #hangs: boolean;
  #asks: boolean;
  #isPatient = false;
  #waitsForGate = false;
  #cancelled: CancelReason | null = null;
  #forceAt = Number.POSITIVE_INFINITY;

  constructor(runner: RunnerProcess, assignment: Assignment, renewedAt: number) {
    const { random, odds, calm } = runner.world;
    this.#runner = runner;
    this.assignment = assignment;
    this.run = assignment.run;
    this.fence = assignment.fence;
    this.renewedAt = renewedAt;
    this.#calls = new TurnCalls(assignment);
    this.#stepsLeft = random.skewed(0, 8);
    this.#hangs = !calm && random.chance(odds.hang);
    this.#asks = random.chance(odds.gates);
  }

  get expiresAt(): number {
    return this.renewedAt + LEASE_MS;
  }

  /** Id of a server tool call that is pending or in progress. */
  get openCallId(): string | undefined {
    const call = this.#calls.next;
    return call?.tool === EFFECT_TOOL ? call.callId : undefined;
  }

  get isSettling(): boolean {
    return this.#settle !== undefined;
  }

  /** The run is released: whatever is still sent repeats the same frame. */
  get isParking(): boolean {
    return this.#park !== undefined;
  }

  get #world(): World {
    return this.#runner.world;
  }

  begin(): void {
    this.#later(this.#world.calm ? 5 : this.#world.random.between(1, this.#world.odds.turnMs));
  }

  cancel(reason: CancelReason, graceMs: number): void {
    if (this.#cancelled === null || this.#cancelled === "steer") this.#cancelled = reason;
    this.#forceAt = Math.min(this.#forceAt, this.#world.scheduler.now + graceMs);
  }

  disconnected(): void {
    this.#inFlight = false;
    this.#calls.disconnected();
  }

  reconnected(): void {
    this.#waitsForGate = false;
    this.#flush();
  }

  answered(answer: Answer, ask: Ask): void {
    if (answer.op === "journaled") this.#journaled(answer, ask);
    else if (answer.op === "history") this.#world.oracle.readHistory(this.assignment, answer.items);
    else {
      if (ask.frame.op === "tool" && ask.frame.name === ASK_TOOL) {
        const { state } = (answer.output ?? { state: "none" }) as { state: string };
        this.#waitsForGate = this.#isPatient && state === "pending";
      }
      this.#performed(answer, ask);
    }
  }

  #journaled(
    { lastOrdinal, verdicts }: Extract<Answer, { op: "journaled" }>,
    { frame }: Ask,
  ): void {
    if (frame.op !== "journal") return;
    const { oracle } = this.#world;
    this.#inFlight = false;
    if (frame.settle) {
      oracle.settleAcknowledged(this.run, this.fence);
      this.#runner.abandon(this);
      return;
    }
    oracle.verdictsTold(this.assignment.promptId, judgedCalls(frame.items), verdicts ?? {});
    if (frame.park) {
      oracle.parkAcknowledged(this.#runner, this.run, this.fence);
      this.#runner.abandon(this);
      return;
    }
    this.#calls.judged(verdicts ?? {});
    // More items may be kept from before; but the verdicts are on the items of this batch.
    const sent = frame.firstOrdinal + frame.items.length - 1;
    this.#acknowledged = Math.max(this.#acknowledged, Math.min(sent, lastOrdinal));
    this.#flush();
  }

  /** Takes the result of a call that the server performed. */
  #performed({ output, error }: Extract<Answer, { op: "tool_result" }>, { frame }: Ask): void {
    if (frame.op !== "tool") return;
    const { callId } = frame;
    const input = frame.input as { words: string; refuse?: boolean };
    const { token = null } = (output ?? {}) as { token?: string };
    if (frame.name !== ASK_TOOL)
      this.#world.oracle.effectTold(this.assignment.promptId, callId, token, input.refuse === true);
    if (this.isParking || this.isSettling || !this.#calls.close(callId)) return;
    this.#result({ callId, tool: frame.name, input }, output, error, true);
  }

  #later(delayMs: number): void {
    this.#world.scheduler.after(delayMs, () => this.#work());
  }

  #work(): void {
    if (this.isOver || !this.#runner.isUp) return;
    const { random, odds, calm, scheduler } = this.#world;
    const isFresh = scheduler.now - this.renewedAt <= STEP_FRESHNESS_MS;
    if (!this.isSettling && !this.isParking && isFresh && this.#runner.isRegistered) this.#step();
    this.#flush();
    this.#later(calm ? 50 : 1 + random.skewed(0, odds.turnMs));
  }

  #step(): void {
    const { random } = this.#world;
    if (this.#cancelled !== null) {
      this.#windDown();
      return;
    }
    if (this.#hangs && !this.#world.calm) return;
    const call = this.#calls.next;
    if (call) {
      this.#goOn(call);
      return;
    }
    if (this.#waitsForGate) {
      if (random.chance(0.02)) this.#askPerson();
      return;
    }
    if (this.#asks) {
      this.#asks = false;
      // Some turns continue with something else meanwhile.
      this.#isPatient = random.chance(0.7);
      this.#askPerson();
      return;
    }
    if (this.#stepsLeft > 0) {
      this.#stepsLeft -= 1;
      this.#write();
      return;
    }
    this.#settle = this.#ending();
  }

  /** A running tool may use the grace period; the end comes in any case. */
  #windDown(): void {
    const { random, scheduler } = this.#world;
    if (scheduler.now < this.#forceAt && random.chance(0.5)) return;
    if (random.chance(0.5)) this.#say(true);
    const outcome = this.#cancelled === "steer" ? "superseded" : "aborted";
    this.#settle = { outcome: random.chance(0.1) ? "completed" : outcome, result: mark(this) };
  }

  #ending(): Settlement {
    const { random } = this.#world;
    const usage = { inputTokens: 10, outputTokens: 5, costMicros: random.chance(0.5) ? 7 : null };
    const outcome = random.weighted({ completed: 80, failed: 12, aborted: 4, superseded: 4 });
    return outcome === "failed"
      ? { outcome, error: { code: "runtime_error", message: "it broke" }, result: mark(this) }
      : { outcome, result: mark(this), usage };
  }

  #write(): void {
    const { random, odds, calm } = this.#world;
    const { calls, pauses, workspaces } = calm ? { calls: 0, pauses: 0, workspaces: 0 } : odds;
    const plain = { message: 5, tool: 3, delta: 1, history: 1, bind: 1 };
    const what = random.weighted({ ...plain, calls, pauses, workspaces });
    const acts = {
      message: () => this.#say(false),
      tool: () => this.#unjudgedCall(),
      delta: () => this.#delta(),
      history: () => this.#askHistory(),
      bind: () => this.#bindTo(`exec-${this.run.slice(-6)}`),
      calls: () => this.#call(),
      pauses: () => this.#pause(random.pick(PAUSES_MS)),
      workspaces: () => this.#bindTo(`${WITH_FILES}${this.run.slice(-6)}`, this.#filesId()),
    };
    acts[what]();
  }

  #bindTo(executorSessionId: string, workspaceId?: string): void {
    const binding = { executorType: "native", executorProfile: null, projectDir: null };
    this.#bind = { executorSessionId, ...binding, ...(workspaceId ? { workspaceId } : {}) };
    if (workspaceId) this.#runner.host.kept.add(this.assignment.sessionId);
  }

  #filesId(): string {
    return `wsp_${this.assignment.sessionId}.${this.#runner.host.profile.name}`;
  }

  #delta(): void {
    const { run, fence } = this;
    const entryId = this.#entryId();
    this.#runner.send({ op: "delta", run, fence, entryId, kind: "text", offset: 0, text: "piece" });
  }

  #askHistory(): void {
    const { run, fence } = this;
    const id = this.#runner.nextId();
    this.#runner.ask({ op: "history", id, run, fence, beforeSeq: null, limit: 50 }, this);
  }

  #pause(waitMs: number): void {
    this.#park = { kind: "pause", waitMs, code: "provider_busy", message: `wait ${waitMs}` };
  }

  /** One model response may contain several calls. */
  #call(): void {
    const { random } = this.#world;
    for (let i = random.skewed(1, 3); i > 0; i--)
      this.#journalCall({ ...drawCall(random), ...this.#callId() });
  }

  #callId(): { callId: string } {
    return { callId: judgedId(`${this.fence}.${this.#items.length + 1}`) };
  }

  #journalCall({ callId, tool, input }: Call): void {
    const entryId = this.#entryId();
    this.#items.push({ type: "pre_tool", entryId, callId, tool, input, authorise: true });
    this.#calls.add({ callId, tool, input });
  }

  #goOn(call: OpenCall): void {
    const { random, calm } = this.#world;
    const moves = {
      wait: () => undefined,
      park: () => {
        this.#park = { kind: "gate", callId: call.callId };
      },
      send: () => {
        call.isSent = true;
        this.#sendCall(call);
        if (random.chance(this.#world.odds.callsAgain)) this.#sendCall(call);
      },
      perform: () => this.#close(call, "done", null, true),
      refused: () => {
        this.#close(call, null, "not allowed", false);
        // A model that repeats a denied call.
        if (call.decision && random.chance(0.4)) this.#journalCall({ ...call, ...this.#callId() });
      },
      interrupted: () => this.#close(call, null, INTERRUPTED, true),
    };
    // A runner that missed the decision waits for it although it was made.
    const isDeaf = call.decision !== undefined && !call.isSent && !calm && random.chance(0.1);
    moves[isDeaf ? "park" : moveOf(call)]();
  }

  #sendCall({ callId, tool, input }: Call): void {
    const { run, fence } = this;
    const id = this.#runner.nextId();
    const by = { fence, boot: this.#runner.bootId };
    const said = { ...(input as object), by };
    this.#runner.ask({ op: "tool", id, run, fence, callId, name: tool, input: said }, this);
  }

  #close(call: OpenCall, output: unknown, error: string | null, performed: boolean): void {
    this.#calls.close(call.callId);
    this.#result(call, output, error, performed);
  }

  #result({ callId, tool, input }: Call, output: unknown, error: string | null, done: boolean) {
    const entryId = this.#entryId();
    const performed = done ? {} : { performed: false };
    this.#items.push({
      type: "post_tool",
      entryId,
      callId,
      tool,
      input,
      output,
      error,
      ...performed,
    });
  }

  /** A call of an agent program that does not ask. */
  #unjudgedCall(): void {
    const entryId = this.#entryId();
    const callId = `plain.${this.fence}.${this.#items.length + 1}`;
    const call = { callId, tool: "shell", input: { at: entryId } };
    this.#items.push({ type: "pre_tool", entryId, ...call });
    this.#result(call, "done", null, true);
  }

  /** A runner that cannot park asks, and polls for the answer. */
  #askPerson(): void {
    const ttlMs = this.#world.random.pick([2_000, 20_000, 24 * 3_600_000]);
    const input = { gate: "call-1", ttlMs };
    this.#journalCall({ tool: ASK_TOOL, input, ...this.#callId() });
  }

  #entryId(): string {
    return `ent_${this.run.slice(4)}.${this.fence}.${this.#items.length + 1}.${this.#runner.bootId}`;
  }

  #say(partial: boolean): void {
    const entryId = this.#entryId();
    const text = `said ${entryId}`;
    this.#items.push({ type: "message", entryId, kind: "text", text, partial });
  }

  /** Sends one batch at a time, in pieces; sent items may be sent again. */
  #flush(): void {
    if (this.#inFlight || this.isOver || !this.#runner.isRegistered) return;
    const { random, calm } = this.#world;
    const from =
      calm || !random.chance(0.1) ? this.#acknowledged : random.between(0, this.#acknowledged);
    const size = random.between(1, 4) + (this.#acknowledged - from);
    const items = this.#items.slice(from, from + size);
    const isRest = from + items.length === this.#items.length;
    const settle = this.#settle && isRest ? { settle: this.#settle } : {};
    const park = this.#park && isRest ? { park: this.#park } : {};
    const isNews = from + items.length > this.#acknowledged;
    if (!isNews && !settle.settle && !park.park && !this.#bind) return;
    const bind = this.#bind ? { bind: this.#bind } : {};
    this.#bind = undefined;
    this.#inFlight = true;
    const frame = {
      op: "journal" as const,
      run: this.run,
      fence: this.fence,
      firstOrdinal: from + 1,
      items,
      ...bind,
      ...settle,
      ...park,
    };
    this.#runner.ask({ ...frame, id: this.#runner.nextId() }, this);
    if (!calm) this.#confuse(frame);
  }

  /** Sends a batch twice, or ignores its answer. */
  #confuse(frame: Omit<Extract<RunnerFrame, { op: "journal" }>, "id">): void {
    const { random, odds } = this.#world;
    const isPark = frame.park !== undefined;
    if (random.chance(isPark ? 0.15 : 0.03))
      this.#runner.send({ ...frame, id: this.#runner.nextId() });
    if (isPark && odds.partition > 0 && random.chance(0.1)) this.#runner.loseWire();
  }
}
