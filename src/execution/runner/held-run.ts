/**
 * One run that this runner holds: the `Turn` a runtime works on, and the runner's control over it.
 *
 * States: working → settling → over, or from any state straight to over when the run is abandoned
 * (its lease is gone) or given back. Only `working` accepts anything from the runtime. Whatever the
 * runtime does, the run settles once: the runner settles it itself when a cancelled runtime does
 * not return in time.
 */
import type { Clock } from "#base/clock.ts";
import type { Ids } from "#base/ids.ts";
import type { Log } from "#base/log.ts";
import { Refusal } from "#base/refusal.ts";
import {
  type Blob,
  type Brief,
  type History,
  LeaseLost,
  type Runtime,
  type ToolAnswer,
  type Turn,
  type TurnEnd,
  type TurnOver,
  type TurnParked,
  type Verdicts,
} from "#execution/runtimes/runtime.ts";
import type { DeltaPiece, JournalItem, Settlement } from "#protocol/events.ts";
import {
  type Assignment,
  type CancelReason,
  type ExecutorBinding,
  LEASE_MS,
  STEP_FRESHNESS_MS,
} from "#protocol/frames.ts";
import type { ToolDefinition } from "#protocol/tools.ts";
import type { RepositoryAccess } from "#protocol/workspaces.ts";
import type { ServerLink } from "./connection/server-link.ts";
import { DeltaStream } from "./journal/delta-stream.ts";
import { JournalOutbox } from "./journal/journal-outbox.ts";
import { answerOpenCalls, keepPartials, OpenCalls } from "./journal/open-entries.ts";
import { TurnRequests } from "./turn-requests.ts";

const OUTCOME_OF = {
  stop: "aborted",
  interrupt: "aborted",
  timeout: "aborted",
  budget: "aborted",
  steer: "superseded",
} as const;
const RESOLVED = Promise.resolve();
const NO_VERDICTS: Verdicts = {};
/** Shared instances: creating an error records a stack, which nobody needs here. */
const SETTLED = new LeaseLost("The turn is settled.");
const PARKED = new LeaseLost("The turn is parked.");

export interface HeldRunOptions {
  assignment: Assignment;
  /** All tools of the server. */
  tools: readonly ToolDefinition[];
  link: ServerLink;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** Called once, when the runner has nothing more to do with the run. */
  over(run: HeldRun): void;
}

interface StepWaiter {
  resolve(): void;
  reject(error: Error): void;
}

export class HeldRun implements Turn {
  readonly assignment: Assignment;
  readonly journaled: readonly JournalItem[];
  readonly serverTools: readonly ToolDefinition[];
  readonly log: Log;
  /** Settles when the runtime has returned, which may be long after the run is over. */
  released: Promise<void> = RESOLVED;
  /** The moment up to which the server is known to have held the lease for this runner. */
  renewedAt: number;
  readonly #options: HeldRunOptions;
  readonly #outbox: JournalOutbox;
  readonly #deltas: DeltaStream;
  readonly #calls: OpenCalls;
  readonly #requests: TurnRequests;
  readonly #abort = new AbortController();
  readonly #kill = new AbortController();
  readonly #finish = new AbortController();
  #state: "working" | "settling" | "over" = "working";
  #cancelled: CancelReason | null = null;
  #forceAt = Infinity;
  #stepWaiters: StepWaiter[] = [];

  constructor(options: HeldRunOptions) {
    const { assignment, link, clock, log } = options;
    const ref = { run: assignment.run, fence: assignment.fence };
    this.#options = options;
    this.assignment = assignment;
    this.journaled = assignment.journal;
    this.serverTools = options.tools.filter(({ name }) => assignment.tools.includes(name));
    this.log = log;
    this.renewedAt = link.provenAt();
    this.#calls = new OpenCalls(assignment.journal);
    this.#requests = new TurnRequests(link, assignment);
    this.#deltas = new DeltaStream((delta) => link.post({ op: "delta", ...ref, ...delta }), clock);
    this.#outbox = new JournalOutbox(async (batch) => {
      const answer = await link.request({ op: "journal", ...ref, ...batch });
      return (answer.op === "journaled" ? answer.verdicts : undefined) ?? NO_VERDICTS;
    });
  }

  get run(): string {
    return this.assignment.run;
  }

  get fence(): number {
    return this.assignment.fence;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get killed(): AbortSignal {
    return this.#kill.signal;
  }

  // Calls by the runtime

  step(): Promise<void> {
    if (this.#state !== "working") return Promise.reject(new LeaseLost("The turn is over."));
    if (this.#isFresh()) return RESOLVED;
    if (this.#cancelled) return Promise.reject(new LeaseLost("The turn was cancelled."));
    return new Promise((resolve, reject) => this.#stepWaiters.push({ resolve, reject }));
  }

  entryId(): string {
    return this.#options.ids.mint("ent");
  }

  delta(piece: DeltaPiece): void {
    if (this.#state === "working") this.#deltas.push(piece);
  }

  retract(entryId: string): void {
    this.#deltas.retract(entryId);
  }

  append(...items: JournalItem[]): Promise<Verdicts> {
    if (this.#state !== "working") return Promise.reject(new LeaseLost("The turn is over."));
    this.#note(items);
    return handled(this.#outbox.append(items));
  }

  async bind(binding: ExecutorBinding): Promise<void> {
    await handled(this.#outbox.append([], { bind: binding }));
  }

  async callTool(callId: string, name: string, input: unknown): Promise<ToolAnswer> {
    await this.step();
    const { run, fence } = this;
    try {
      const answer = await this.#requests.send({ op: "tool", run, fence, callId, name, input });
      if (answer.op === "tool_result") {
        const { output, error, endsTurn = false } = answer;
        return { output, error, endsTurn };
      }
      return { output: null, error: `unexpected answer ${answer.op}` };
    } catch (error) {
      if (error instanceof Refusal) return { output: null, error: error.message };
      throw error;
    }
  }

  history(beforeSeq: number | null, limit: number): Promise<History> {
    return this.#requests.history(beforeSeq, limit);
  }

  brief(): Promise<Brief | null> {
    return this.#requests.brief();
  }

  register(): Promise<string | null> {
    return this.#requests.register();
  }

  repository(): Promise<RepositoryAccess | null> {
    return this.#requests.repository();
  }

  keepBlob(blob: Blob): Promise<string> {
    return this.#requests.keepBlob(blob);
  }

  fetchBlob(sha256: string): Promise<Blob | null> {
    return this.#requests.fetchBlob(sha256);
  }

  // Calls by the runner

  /**
   * Lets the runtime work the turn; `runtime` is undefined if this runner has none of that name.
   * The turn begins after `after` has settled.
   */
  work(runtime: Runtime | undefined, after?: Promise<void>): void {
    this.released = this.#drive(runtime, after);
  }

  async #drive(runtime: Runtime | undefined, after: Promise<void> | undefined): Promise<void> {
    await after;
    let end: TurnEnd;
    try {
      end = runtime ? await runtime.runTurn(this) : runtimeMissing(this.assignment.runtime);
    } catch (error) {
      if (this.#state !== "working") return;
      if (!this.#cancelled)
        this.log.error({ err: error, run: this.run }, "the runtime failed unexpectedly");
      end = runtimeFailed(this.assignment.runtime, error);
    }
    if (end.outcome === "parked") this.#park(end);
    else this.#settle(end);
  }

  /** Asks the runtime to wind down, and settles without it when `graceMs` have passed. */
  cancel(reason: CancelReason, graceMs: number): void {
    if (this.#state !== "working") return;
    const isFirst = this.#cancelled === null;
    // A stop outweighs a steer that is under way; nothing weakens a stop.
    if (isFirst || this.#cancelled === "steer") this.#cancelled = reason;
    const forceAt = this.#options.clock.now() + graceMs;
    if (forceAt < this.#forceAt) {
      this.#forceAt = forceAt;
      void this.#options.clock.sleep(graceMs, this.#finish.signal).then(() => this.#force());
    }
    if (!isFirst) return;
    this.#rejectSteps("The turn was cancelled.");
    this.#abort.abort(reason);
  }

  #force(): void {
    if (this.#state !== "working") return;
    this.log.warn(
      { run: this.run, reason: this.#cancelled },
      "the runtime ignores the cancellation and is killed",
    );
    this.#settle({ outcome: "aborted" });
    this.#kill.abort(new LeaseLost("The grace after the cancellation is over."));
  }

  /** Drops the run without informing the server. */
  abandon(why: string): void {
    if (this.#state === "over") return;
    const lost = new LeaseLost(why);
    this.#deltas.end();
    this.#outbox.fail(lost);
    this.#options.link.forget(this, lost);
    this.#letGo(lost);
    this.#abort.abort(lost);
    this.#kill.abort(lost);
  }

  /** Gives the run back to the server. Items that were appended are delivered first. */
  async giveBack(): Promise<void> {
    if (this.#state !== "working") return this.#outbox.idle();
    const { run, fence } = this;
    const left = new LeaseLost("The runner is leaving.");
    this.#deltas.end();
    this.#outbox.close(left);
    this.#state = "settling";
    this.#rejectSteps(left.message);
    this.#abort.abort(left);
    this.#kill.abort(left);
    await this.#outbox.idle();
    await this.#options.link.request({ op: "release", run, fence }).catch(() => {});
    this.abandon(left.message);
  }

  renewed(at: number): void {
    if (at > this.renewedAt) this.renewedAt = at;
    if (!this.#isFresh()) return;
    const waiters = this.#stepWaiters;
    this.#stepWaiters = [];
    for (const waiter of waiters) waiter.resolve();
  }

  /** The instant at which the lease may have ended on the server. */
  get expiresAt(): number {
    return this.renewedAt + LEASE_MS;
  }

  resendDeltas(now: number): void {
    this.#deltas.resendWhole(now);
  }

  #isFresh(): boolean {
    return this.#options.clock.now() - this.renewedAt <= STEP_FRESHNESS_MS;
  }

  #note(items: readonly JournalItem[]): void {
    for (const item of items) this.#deltas.close(item.entryId);
    this.#calls.note(items);
  }

  /** Parks the turn. If it was cancelled meanwhile, the server ends it instead. */
  #park({ items = [], park }: TurnParked): void {
    if (this.#state !== "working") return;
    this.#note(items);
    const partials = keepPartials(this.#deltas.end());
    this.#state = "settling";
    this.#outbox.append([...items, ...partials], { park }).then(
      () => this.#letGo(PARKED),
      (error: unknown) => {
        if (!(error instanceof Refusal))
          return this.abandon("That the turn is parked could not be delivered.");
        void this.#settleRefused(error);
      },
    );
  }

  #settle({ items = [], ...settlement }: TurnOver): void {
    if (this.#state !== "working") return;
    this.#note(items);
    const loose = [...keepPartials(this.#deltas.end()), ...answerOpenCalls(this.#calls, this)];
    this.#state = "settling";
    void this.#sendSettlement([...items, ...loose], this.#judge(settlement));
  }

  /** Gives a cancelled turn that did not complete the outcome of its cancellation. */
  #judge(settlement: Settlement): Settlement {
    if (this.#cancelled === null || settlement.outcome === "completed") return settlement;
    const { error: _cutOff, ...rest } = settlement;
    return { ...rest, outcome: OUTCOME_OF[this.#cancelled] };
  }

  async #sendSettlement(items: JournalItem[], settle: Settlement): Promise<void> {
    try {
      await this.#outbox.append(items, { settle });
    } catch (error) {
      if (!(error instanceof Refusal))
        return this.abandon("The settlement could not be delivered.");
      return this.#settleRefused(error);
    }
    this.#letGo(SETTLED);
  }

  /** Ends the turn without its final items after the server has refused them. */
  async #settleRefused(refusal: Refusal): Promise<void> {
    this.log.error({ err: refusal, run: this.run }, "the server refuses the end of the turn");
    const error = {
      code: "journal_refused",
      message: `The server did not take the end of the turn: ${refusal.message}`,
    };
    await this.#outbox.append([], { settle: { outcome: "failed", error } }).catch(() => {});
    this.#letGo(SETTLED);
  }

  #letGo(reason: LeaseLost): void {
    if (this.#state === "over") return;
    this.#state = "over";
    this.#rejectSteps(reason.message);
    this.#finish.abort(reason);
    if (this.#requests.hasOpen) this.#options.link.forget(this, reason);
    this.#options.over(this);
  }

  #rejectSteps(why: string): void {
    const waiters = this.#stepWaiters;
    this.#stepWaiters = [];
    for (const waiter of waiters) waiter.reject(new LeaseLost(why));
  }
}

/**
 * Marks a rejection as handled: a runtime may ignore the promise, and that must not end the
 * process.
 */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

function runtimeMissing(name: string): TurnOver {
  return {
    outcome: "failed",
    error: {
      code: "runtime_not_found",
      message: `This runner has no runtime "${name}". Choose another runtime for the session, or start a runner that has it.`,
    },
  };
}

function runtimeFailed(name: string, error: unknown): TurnOver {
  const what = error instanceof Error ? error.message : String(error);
  return {
    outcome: "failed",
    error: { code: "runtime_error", message: `The runtime "${name}" failed: ${what}` },
  };
}
