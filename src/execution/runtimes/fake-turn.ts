/** A turn for the tests of runtimes: it keeps what the runtime did and can be made to go wrong. */
import type { Delta, JournalItem } from "#protocol/events.ts";
import type { Assignment, ExecutorBinding, HistoryItem } from "#protocol/frames.ts";
import {
  type CancelReason,
  LeaseLost,
  type Runtime,
  type ToolAnswer,
  type Turn,
  type TurnEnd,
} from "./runtime.ts";

type Act =
  | { did: "step" }
  | { did: "append"; item: JournalItem }
  | { did: "tool"; callId: string; name: string };

export class FakeTurn implements Turn {
  readonly assignment: Assignment;
  readonly journaled: readonly JournalItem[];
  readonly log = { info() {}, warn() {} };
  /** Everything in the order in which it happened. */
  readonly acts: Act[] = [];
  readonly deltas: Pick<Delta, "entryId" | "kind" | "text">[] = [];
  readonly bindings: ExecutorBinding[] = [];
  isLost = false;
  onTool: (name: string, input: unknown) => Promise<ToolAnswer> | ToolAnswer = () => ({
    output: "ok",
    error: null,
  });
  readonly #abort = new AbortController();
  readonly #kill = new AbortController();
  #lastEntry = 0;

  constructor(given: Partial<Assignment> = {}) {
    this.assignment = {
      run: "run_1",
      fence: 1,
      attempt: 1,
      sessionId: "ses_1",
      thread: "main",
      promptId: "pmt_1",
      content: "hello",
      attachments: [],
      author: { kind: "user", id: "usr_1", name: "Ada" },
      runtime: "test",
      model: null,
      projectDir: null,
      executorSessionId: null,
      instructions: null,
      journal: [],
      ...given,
    };
    this.journaled = this.assignment.journal;
  }

  signal = this.#abort.signal;
  killed = this.#kill.signal;

  /** What was journaled, with what came with the end. */
  get items(): JournalItem[] {
    return this.acts.flatMap((act) => (act.did === "append" ? [act.item] : []));
  }

  cancel(reason: CancelReason): void {
    this.#abort.abort(reason);
  }

  kill(): void {
    this.isLost = true;
    this.#abort.abort(new LeaseLost("gone"));
    this.#kill.abort(new LeaseLost("gone"));
  }

  /** Lets the runtime work this turn, as a runner would. */
  async work(runtime: Runtime): Promise<TurnEnd> {
    const end = await runtime.runTurn(this);
    for (const item of end.items ?? []) this.acts.push({ did: "append", item });
    return end;
  }

  /** What whoever watched has seen of an entry. */
  shown(entryId: string): string {
    return this.deltas.flatMap((delta) => (delta.entryId === entryId ? [delta.text] : [])).join("");
  }

  async step(): Promise<void> {
    if (this.isLost) throw new LeaseLost("gone");
    this.acts.push({ did: "step" });
  }

  entryId(): string {
    this.#lastEntry++;
    return `ent_${this.assignment.fence}_${this.#lastEntry}`;
  }

  delta(piece: Pick<Delta, "entryId" | "kind" | "text">): void {
    this.deltas.push(piece);
  }

  async append(...items: JournalItem[]): Promise<void> {
    if (this.isLost) throw new LeaseLost("gone");
    for (const item of items) this.acts.push({ did: "append", item });
  }

  async bind(binding: ExecutorBinding): Promise<void> {
    this.bindings.push(binding);
  }

  async callTool(callId: string, name: string, input: unknown): Promise<ToolAnswer> {
    if (this.isLost) throw new LeaseLost("gone");
    this.acts.push({ did: "tool", callId, name });
    return this.onTool(name, input);
  }

  async history(): Promise<HistoryItem[]> {
    return [];
  }
}
