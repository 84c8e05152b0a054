/** A server for the runner's tests: keeps every frame, answers like the real one, and can misbehave. */

import type { Assignment, RunnerFrame, ServerFrame } from "#protocol/frames.ts";
import { DEFAULT_TURN_LIMITS } from "#protocol/frames.ts";
import type { Connection, ConnectionEvents, Transport } from "./connection/transport.ts";

export type FrameOf<Op extends RunnerFrame["op"]> = Extract<RunnerFrame, { op: Op }>;

export class FakeServer implements Transport {
  readonly frames: RunnerFrame[] = [];
  opens = 0;
  /** Ops that are kept without an answer until `answerHeld`. */
  readonly silentOn = new Set<RunnerFrame["op"]>();
  /** Errors for the next attempts to open a connection. */
  readonly openErrors: Error[] = [];
  readonly registerAnswers: Omit<Extract<ServerFrame, { op: "refused" }>, "op" | "id">[] = [];
  lostAtRegister: string[] = [];
  lostAtRenew: string[] = [];
  congested = false;
  /** See `Connection`; of connections that are opened from now on. */
  provenAt: number | undefined;
  /** False for a server that does not know the frame `accepted` yet. */
  wantsAccepted = false;
  /** Answers a tool call; null leaves it open. */
  onTool: (frame: FrameOf<"tool">) => { output: unknown; error: string | null } | null = () => ({
    output: "ok",
    error: null,
  });
  readonly #held: RunnerFrame[] = [];
  #events: ConnectionEvents | null = null;

  async open(events: ConnectionEvents): Promise<Connection> {
    this.opens++;
    const error = this.openErrors.shift();
    if (error) throw error;
    const server = this;
    const { provenAt } = this;
    this.#events = events;
    return {
      send: (frame) => {
        if (this.#events === events) this.#receive(structuredClone(frame));
      },
      get congested() {
        return server.congested;
      },
      ...(provenAt === undefined ? {} : { provenAt: () => provenAt }),
      close: () => {
        if (this.#events === events) this.disconnect("closed by the runner");
      },
    };
  }

  get isConnected(): boolean {
    return this.#events !== null;
  }

  send(frame: ServerFrame): void {
    this.#events?.frame(structuredClone(frame));
  }

  assign(assignment: Partial<Assignment> & { run: string }): void {
    this.send({ op: "assign", assignment: assignmentOf(assignment) });
  }

  disconnect(reason = "broken"): void {
    const events = this.#events;
    this.#events = null;
    this.#held.length = 0;
    events?.closed(reason);
  }

  all<Op extends RunnerFrame["op"]>(op: Op): FrameOf<Op>[] {
    return this.frames.filter((frame): frame is FrameOf<Op> => frame.op === op);
  }

  /** Answers everything that was held back, and stops holding back. */
  answerHeld(): void {
    this.silentOn.clear();
    for (const frame of this.#held.splice(0)) this.#answer(frame);
  }

  /** The settlement of a run, when it has arrived. */
  settlement(run: string) {
    return this.all("journal").find((frame) => frame.run === run && frame.settle)?.settle;
  }

  items(run: string) {
    return this.all("journal").flatMap((frame) => (frame.run === run ? frame.items : []));
  }

  #receive(frame: RunnerFrame): void {
    this.frames.push(frame);
    if (this.silentOn.has(frame.op)) this.#held.push(frame);
    else this.#answer(frame);
  }

  #answer(frame: RunnerFrame): void {
    switch (frame.op) {
      case "register":
        this.#register(frame.id);
        break;
      case "renew":
        this.send({ op: "renewed", id: frame.id, lost: this.lostAtRenew });
        break;
      case "journal": {
        const lastOrdinal = frame.firstOrdinal + frame.items.length - 1;
        this.send({ op: "journaled", id: frame.id, run: frame.run, lastOrdinal });
        break;
      }
      case "tool": {
        const answer = this.onTool(frame);
        if (answer) this.send({ op: "tool_result", id: frame.id, ...answer });
        break;
      }
      case "history":
        this.send({ op: "history", id: frame.id, items: [], more: false, summary: null });
        break;
      case "sessions":
        this.send({ op: "sessions", id: frame.id, resting: [], gone: [] });
        break;
      case "models":
      case "release":
      case "drain":
        this.send({ op: "done", id: frame.id });
        break;
      default:
    }
  }

  #register(id: string): void {
    const refused = this.registerAnswers.shift();
    if (refused) {
      this.send({ op: "refused", id, ...refused });
      this.disconnect("refused");
      return;
    }
    const lost = this.lostAtRegister;
    const { wantsAccepted } = this;
    const answer = { id, runnerId: "rnr_1", serverBootId: "srv_1", lost, tools: [] };
    this.send({ op: "registered", ...answer, ...(wantsAccepted ? { wantsAccepted } : {}) });
  }
}

export function assignmentOf(given: Partial<Assignment> & { run: string }): Assignment {
  return {
    token: "mrt_test",
    role: "standalone",
    tools: [],
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
    runtime: "echo",
    model: null,
    projectDir: null,
    executorSessionId: null,
    instructions: null,
    hasBrief: false,
    repo: null,
    repository: null,
    mayUsePath: false,
    branch: null,
    limits: DEFAULT_TURN_LIMITS,
    spentMicros: 0,
    workedMs: 0,
    budgetLeftMicros: null,
    decisions: [],
    journal: [],
    ...given,
  };
}
