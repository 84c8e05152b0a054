/** A turn for the tests of runtimes: it records what the runtime does and can be made to fail. */
import { createHash } from "node:crypto";
import type { DeltaPiece, JournalItem } from "#protocol/events.ts";
import { type Assignment, DEFAULT_TURN_LIMITS, type ExecutorBinding } from "#protocol/frames.ts";
import type { Verdict } from "#protocol/sessions.ts";
import { type ToolDefinition, workspaceTools } from "#protocol/tools.ts";
import type { RepositoryAccess } from "#protocol/workspaces.ts";
import {
  type Blob,
  type Brief,
  type CancelReason,
  type History,
  LeaseLost,
  type Runtime,
  type ToolAnswer,
  type Turn,
  type TurnEnd,
  type TurnOver,
  type Verdicts,
} from "./runtime.ts";

type Act =
  | { did: "step" }
  | { did: "append"; item: JournalItem }
  | { did: "tool"; callId: string; name: string };

export class FakeTurn implements Turn {
  readonly assignment: Assignment;
  readonly journaled: readonly JournalItem[];
  readonly log = { info() {}, warn() {}, error() {} };
  /** Everything that happened, in order. */
  readonly acts: Act[] = [];
  readonly deltas: DeltaPiece[] = [];
  readonly bindings: ExecutorBinding[] = [];
  readonly blobs = new Map<string, Blob>();
  earlier: History = { items: [], more: false, summary: null };
  given: Brief | null = null;
  registered: string | null = null;
  access: RepositoryAccess | null = null;
  serverTools: readonly ToolDefinition[] = [];
  isLost = false;
  judge: (tool: string, input: unknown) => Verdict = () => ({ verdict: "allow", reason: null });
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
      token: "mrt_test",
      fence: 1,
      attempt: 1,
      sessionId: "ses_1",
      thread: "main",
      promptId: "pmt_1",
      content: "hello",
      attachments: [],
      author: { kind: "user", id: "usr_1", name: "Ada" },
      ownerId: "usr_1",
      parentSessionId: null,
      isFirst: true,
      runtime: "test",
      model: null,
      projectDir: null,
      executorSessionId: null,
      instructions: null,
      hasBrief: false,
      repo: null,
      repository: null,
      mayUsePath: false,
      branch: null,
      role: "standalone",
      tools: workspaceTools.map(({ name }) => name),
      limits: DEFAULT_TURN_LIMITS,
      spentMicros: 0,
      workedMs: 0,
      budgetLeftMicros: null,
      decisions: [],
      journal: [],
      ...given,
    };
    this.journaled = this.assignment.journal;
  }

  signal = this.#abort.signal;
  killed = this.#kill.signal;

  /** Journaled items, including those that came with the end. */
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

  /** Lets the runtime work on this turn, as a runner would, until it is over or parked. */
  async workOrPark(runtime: Runtime): Promise<TurnEnd> {
    const end = await runtime.runTurn(this);
    for (const item of end.items ?? []) this.acts.push({ did: "append", item });
    return end;
  }

  async work(runtime: Runtime): Promise<TurnOver> {
    const end = await this.workOrPark(runtime);
    if (end.outcome === "parked") throw new Error("the turn was parked");
    return end;
  }

  /** Text of an entry as watchers have seen it. */
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

  delta(piece: DeltaPiece): void {
    this.deltas.push(piece);
  }

  retract(entryId: string): void {
    const kept = this.deltas.filter((delta) => delta.entryId !== entryId);
    this.deltas.splice(0, this.deltas.length, ...kept);
  }

  async append(...items: JournalItem[]): Promise<Verdicts> {
    if (this.isLost) throw new LeaseLost("gone");
    const verdicts: Record<string, Verdict> = {};
    for (const item of items) {
      if (item.type !== "pre_tool" || !item.authorise) {
        this.acts.push({ did: "append", item });
        continue;
      }
      const verdict = this.judge(item.tool, item.input);
      verdicts[item.callId] = verdict;
      this.acts.push({ did: "append", item: { ...item, verdict } });
    }
    return verdicts;
  }

  async bind(binding: ExecutorBinding): Promise<void> {
    this.bindings.push(binding);
  }

  async callTool(callId: string, name: string, input: unknown): Promise<ToolAnswer> {
    if (this.isLost) throw new LeaseLost("gone");
    this.acts.push({ did: "tool", callId, name });
    return this.onTool(name, input);
  }

  async history(): Promise<History> {
    return this.earlier;
  }

  async register(): Promise<string | null> {
    return this.registered;
  }

  async brief(): Promise<Brief | null> {
    return this.given;
  }

  async repository(): Promise<RepositoryAccess | null> {
    return this.access;
  }

  async keepBlob(blob: Blob): Promise<string> {
    const sha256 = createHash("sha256").update(Buffer.from(blob.data, "base64")).digest("hex");
    this.blobs.set(sha256, blob);
    return sha256;
  }

  async fetchBlob(sha256: string): Promise<Blob | null> {
    return this.blobs.get(sha256) ?? null;
  }
}
