/**
 * One running agent program and the ACP connection to it. The program leads its own process group,
 * gets a clean environment, and never outlives `kill`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import type {
  AgentCapabilities,
  ClientConnection,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionNotification,
} from "@agentclientprotocol/sdk";
import { redactText } from "#base/log.ts";
import { createTreeMark, signalTree } from "#execution/process-tree.ts";
import type { AgentPreset } from "./preset.ts";

const STDERR_CHARS = 2000;
const LAST_WORDS_MS = 100;
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;

/** Receives the agent's updates and requests; a turn is the listener while it is worked on. */
export interface AgentListener {
  update(notification: SessionNotification): void;
  permission(request: RequestPermissionRequest): Promise<RequestPermissionResponse>;
}

export interface AgentStart {
  preset: AgentPreset;
  cwd: string;
  env: Readonly<Record<string, string>>;
}

/** Reason why the agent is gone, in words for the person who waits for it. */
export class AgentGone extends Error {
  override readonly name = "AgentGone";
  readonly code: "agent_not_started" | "agent_exited";

  constructor(code: AgentGone["code"], message: string) {
    super(message);
    this.code = code;
  }
}

export class AgentProcess {
  listener: AgentListener | null = null;
  capabilities: AgentCapabilities = {};
  /** Rejects, with `AgentGone`, when the program has ended. Never resolves. */
  readonly gone: Promise<never>;
  readonly #child: ChildProcess;
  readonly #mark = createTreeMark();
  readonly #preset: AgentPreset;
  #connection: ClientConnection | null = null;
  #stderr = "";
  #isGone = false;

  /** Starts the program; `shakeHands` makes it usable. */
  constructor({ preset, cwd, env }: AgentStart) {
    const [program = "", ...args] = preset.command;
    this.#preset = preset;
    this.#child = spawn(program, args, {
      cwd,
      env: { ...preset.env, ...env, [this.#mark.name]: this.#mark.value },
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
    });
    this.#child.stderr?.on("data", (chunk) => {
      this.#stderr = (this.#stderr + String(chunk)).slice(-STDERR_CHARS);
    });
    this.gone = new Promise((_, reject) => {
      this.#child.once("error", (error) => reject(this.#notStarted(error)));
      this.#child.once("exit", (code, signal) => {
        this.#isGone = true;
        // The last output may still be in the pipe; a grandchild may hold that open for ever.
        const tell = () => reject(this.#exited(code, signal));
        this.#child.once("close", tell);
        setTimeout(tell, LAST_WORDS_MS);
      });
    });
    this.gone.catch(() => {
      this.#isGone = true;
    });
  }

  /** Agrees on the protocol. Rejects with `AgentGone` or the agent's error. */
  async shakeHands(): Promise<void> {
    await this.orGone(this.#initialize());
  }

  /** Result of a call to the agent, or `AgentGone` when the program ends before it. */
  async orGone<T>(call: Promise<T>): Promise<T> {
    try {
      return await Promise.race([call, this.gone]);
    } catch (error) {
      if (!this.#connection?.signal.aborted) throw error;
      // The connection closes before the exit is known, and the exit says more.
      this.kill();
      return this.gone;
    }
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Connection for calls to the agent. */
  get agent(): ClientConnection["agent"] {
    if (!this.#connection) throw new Error("The agent is not connected.");
    return this.#connection.agent;
  }

  /** Ends the program and everything it started, at once. */
  kill(): void {
    this.#isGone = true;
    this.#connection?.close();
    if (this.#child.pid !== undefined) signalTree(this.#child.pid, this.#mark, "SIGKILL");
  }

  async #initialize(): Promise<void> {
    const { stdin, stdout } = this.#child;
    if (!stdin || !stdout) return;
    stdin.on("error", () => {}); // The exit says more.
    const acp = await import("@agentclientprotocol/sdk");
    const stream = acp.ndJsonStream(
      Writable.toWeb(stdin) as WritableStream<Uint8Array>,
      Readable.toWeb(stdout) as ReadableStream<Uint8Array>,
      { maxMessageBytes: MAX_MESSAGE_BYTES },
    );
    const { client, agent } = acp.methods;
    this.#connection = acp
      .client({ name: "muster" })
      .onNotification(client.session.update, ({ params }) => this.listener?.update(params))
      .onRequest(client.session.requestPermission, ({ params }) => this.#permission(params))
      .connect(stream);
    const answer = await this.#connection.agent.request(agent.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      clientInfo: { name: "muster", version: "0" },
    });
    this.capabilities = answer.agentCapabilities ?? {};
  }

  async #permission(request: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    return this.listener?.permission(request) ?? { outcome: { outcome: "cancelled" } };
  }

  #notStarted(error: Error): AgentGone {
    const { name, install } = this.#preset;
    return new AgentGone(
      "agent_not_started",
      `The agent program "${name}" could not be started (${error.message}). ${install}`,
    );
  }

  #exited(code: number | null, signal: string | null): AgentGone {
    const said = redactText(this.#stderr.trim());
    const how = signal ? `by ${signal}` : `with code ${code}`;
    return new AgentGone(
      "agent_exited",
      `The agent program "${this.#preset.name}" ended ${how}.${said ? ` Its output: ${said}` : ""}`,
    );
  }
}
