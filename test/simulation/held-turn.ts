/** A run in the hands of a runner: a small random script of model steps, tool calls and questions. */
import type { JournalItem, Settlement } from "#protocol/events.ts";
import {
  type Assignment,
  type CancelReason,
  LEASE_MS,
  type RunnerFrame,
  type ServerFrame,
  STEP_FRESHNESS_MS,
} from "#protocol/frames.ts";
import type { RunnerProcess } from "./runner-process.ts";
import { ASK_TOOL } from "./sim-feature.ts";
import type { World } from "./world.ts";

export interface Ask {
  turn: HeldTurn;
  frame: RunnerFrame;
  sentAt: number;
}

/** Says in a settlement whose word it is. */
export function mark({ run, fence }: { run: string; fence: number }): string {
  return `${run}#${fence}`;
}

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
  #inFlight = false;
  #bind = false;
  #stepsLeft: number;
  #hangs: boolean;
  #asks: boolean;
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
    this.#stepsLeft = random.skewed(0, 6);
    this.#hangs = !calm && random.chance(odds.hang);
    this.#asks = random.chance(odds.gates);
  }

  get expiresAt(): number {
    return this.renewedAt + LEASE_MS;
  }

  get isSettling(): boolean {
    return this.#settle !== undefined;
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
  }

  reconnected(): void {
    this.#waitsForGate = false;
    this.#flush();
  }

  answered(answer: Answer, ask: Ask): void {
    if (answer.op === "journaled") {
      this.#journaled(answer.lastOrdinal, ask);
      return;
    }
    if (answer.op === "history") {
      this.#world.oracle.readHistory(this.assignment, answer.items);
      return;
    }
    const { state } = (answer.output ?? { state: "none" }) as { state: string };
    this.#waitsForGate = state === "pending";
    if (!this.#waitsForGate) this.#asks = false;
  }

  #journaled(lastOrdinal: number, { frame }: Ask): void {
    if (frame.op !== "journal") return;
    this.#inFlight = false;
    if (frame.settle) {
      this.#world.oracle.settleAcknowledged(this.run, this.fence);
      this.#runner.abandon(this);
      return;
    }
    this.#acknowledged = Math.max(this.#acknowledged, lastOrdinal);
    this.#flush();
  }

  #later(delayMs: number): void {
    this.#world.scheduler.after(delayMs, () => this.#work());
  }

  #work(): void {
    if (this.isOver || !this.#runner.isUp) return;
    const { random, odds, calm, scheduler } = this.#world;
    const isFresh = scheduler.now - this.renewedAt <= STEP_FRESHNESS_MS;
    if (this.#settle === undefined && isFresh && this.#runner.isRegistered) this.#step();
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
    if (this.#waitsForGate) {
      if (random.chance(0.02)) this.#askPerson();
      return;
    }
    if (this.#asks) {
      this.#waitsForGate = true;
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

  /** A tool under way may use the grace; the end comes in any case. */
  #windDown(): void {
    const { random, scheduler } = this.#world;
    if (scheduler.now < this.#forceAt && random.chance(0.5)) return;
    if (random.chance(0.5)) this.#append("partial");
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
    const { random } = this.#world;
    const what = random.weighted({ message: 5, tool: 3, delta: 1, history: 1, bind: 1 });
    if (what === "message") this.#append("message");
    else if (what === "tool") {
      this.#append("pre_tool");
      this.#append("post_tool");
    } else if (what === "delta")
      this.#runner.send({
        op: "delta",
        run: this.run,
        fence: this.fence,
        entryId: this.#entryId(),
        kind: "text",
        offset: 0,
        text: "piece",
      });
    else if (what === "history")
      this.#runner.ask(
        {
          op: "history",
          id: this.#runner.nextId(),
          run: this.run,
          fence: this.fence,
          beforeSeq: null,
          limit: 50,
        },
        this,
      );
    else this.#bind = true;
  }

  #askPerson(): void {
    this.#runner.ask(
      {
        op: "tool",
        id: this.#runner.nextId(),
        run: this.run,
        fence: this.fence,
        callId: "call-1",
        name: ASK_TOOL,
        input: { ttlMs: this.#world.random.pick([2_000, 20_000, 24 * 3_600_000]) },
      },
      this,
    );
  }

  #entryId(): string {
    return `ent_${this.run.slice(4)}.${this.fence}.${this.#items.length + 1}.${this.#runner.bootId}`;
  }

  #append(type: "message" | "partial" | "pre_tool" | "post_tool"): void {
    const entryId = this.#entryId();
    const tool = { tool: "shell", callId: `c${this.#items.length >> 1}`, input: { at: entryId } };
    if (type === "pre_tool") this.#items.push({ type, entryId, ...tool });
    else if (type === "post_tool")
      this.#items.push({ type, entryId, ...tool, output: "done", error: null });
    else
      this.#items.push({
        type: "message",
        entryId,
        kind: "text",
        text: `said ${entryId}`,
        partial: type === "partial",
      });
  }

  /** One batch at a time, in pieces; what was sent before may be sent again. */
  #flush(): void {
    if (this.#inFlight || this.isOver || !this.#runner.isRegistered) return;
    const { random, calm } = this.#world;
    const from =
      calm || !random.chance(0.1) ? this.#acknowledged : random.between(0, this.#acknowledged);
    const size = random.between(1, 4) + (this.#acknowledged - from);
    const items = this.#items.slice(from, from + size);
    const isRest = from + items.length === this.#items.length;
    const settle = this.#settle && isRest ? { settle: this.#settle } : {};
    const isNews = from + items.length > this.#acknowledged;
    if (!isNews && !settle.settle && !this.#bind) return;
    const bind = this.#bind
      ? {
          bind: {
            executorSessionId: `exec-${this.run.slice(-6)}`,
            executorType: "native",
            executorProfile: null,
            projectDir: null,
          },
        }
      : {};
    this.#bind = false;
    this.#inFlight = true;
    const frame = {
      op: "journal" as const,
      run: this.run,
      fence: this.fence,
      firstOrdinal: from + 1,
      items,
      ...bind,
      ...settle,
    };
    this.#runner.ask({ ...frame, id: this.#runner.nextId() }, this);
    if (!calm && random.chance(0.03)) this.#runner.send({ ...frame, id: this.#runner.nextId() });
  }
}
