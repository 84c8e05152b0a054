/** The scene of a round: a data folder, a port, and the program's processes on them. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Cleanup } from "#test/services/servers/cleanup.ts";
import { findFreePort } from "#test/services/servers/free-port.ts";
import { Api } from "../clients/api.ts";
import { MusterProcess, tailOf } from "./muster-process.ts";

export interface StageOptions {
  cleanup: Cleanup;
  /** Arguments of Node that stand for `muster`. */
  program: string;
  /** Options of Node for every process. */
  nodeOptions?: readonly string[];
  /** Further settings of the server. */
  env?: Record<string, string>;
}

export class Stage {
  readonly home: string;
  readonly url: string;
  /** Settings of the server; may be added to before it is started. */
  readonly env: Record<string, string>;
  readonly #options: StageOptions;
  #server: MusterProcess | undefined;
  #runner: MusterProcess | undefined;
  #token: string | undefined;
  readonly #named: MusterProcess[] = [];

  private constructor(options: StageOptions, home: string, port: number) {
    this.#options = options;
    this.home = home;
    this.url = `http://127.0.0.1:${port}`;
    this.env = {
      MUSTER_HOME: home,
      MUSTER_PORT: String(port),
      MUSTER_RATE_LIMIT: "0",
      MUSTER_MAX_SESSIONS: "100000",
      MUSTER_MAX_ORG_SESSIONS: "100000",
      MUSTER_MAX_UNATTENDED_TURNS: "1000000",
      MUSTER_LOG_LEVEL: "warn",
      ...options.env,
    };
  }

  static async create(options: StageOptions): Promise<Stage> {
    return new Stage(options, options.cleanup.createFolder(), await findFreePort());
  }

  get server(): MusterProcess {
    if (!this.#server) throw new Error("no server was started");
    return this.#server;
  }

  get key(): string {
    return readFileSync(join(this.home, "owner.key"), "utf8").trim();
  }

  /** Starts `muster server`, or another program in its place; resolves when it takes requests. */
  async startServer(args = [this.#options.program, "server"]): Promise<void> {
    this.#server = this.#launch(args, "server.log", this.env);
    await this.#server.ready(this.url);
  }

  /** Starts `muster up`: server and runner. */
  async startBoth(): Promise<void> {
    this.#server = this.#launch([this.#options.program, "up"], "server.log", this.env);
    await this.#server.ready(this.url);
  }

  /** Starts a process without waiting, so that it can be killed while it starts. */
  launchServer(command: "server" | "up"): void {
    this.#server = this.#launch([this.#options.program, command], "server.log", this.env);
  }

  /** Starts a separate runner; the first start gets it a token. */
  async startRunner(): Promise<void> {
    this.#token ??= await this.#createToken();
    const args = [this.#options.program, "runner", "--server", this.url, "--token", this.#token];
    const env = { ...this.env, MUSTER_HOME: join(this.home, "runner-home") };
    this.#runner = this.#launch(args, "runner.log", env);
  }

  /**
   * Starts one of several runners, each in its own folder. `url` is its way to the server; `token`
   * is its owner's, by default the organisation's.
   */
  async startRunnerNamed(name: string, url = this.url, token?: string): Promise<MusterProcess> {
    if (token === undefined) this.#token ??= await this.#createToken();
    const identity = ["--token", token ?? this.#token ?? "", "--name", name];
    const args = [this.#options.program, "runner", "--server", url, ...identity];
    const env = { ...this.env, MUSTER_HOME: join(this.home, `runner-${name}`) };
    const runner = this.#launch(args, "runner.log", env);
    this.#named.push(runner);
    return runner;
  }

  /** The next runner needs a new token: tokens from before a restore are no longer valid. */
  forgetToken(): void {
    this.#token = undefined;
  }

  /** Runs a command of the program to its end; returns its exit code. */
  async command(words: string[], killAfterMs?: number): Promise<number | null> {
    const running = this.#launch([this.#options.program, ...words], "command.log", this.env);
    const timer =
      killAfterMs === undefined ? undefined : setTimeout(() => void running.kill(), killAfterMs);
    const { code } = await running.exit;
    clearTimeout(timer);
    return code;
  }

  async stopServer(): Promise<void> {
    await this.#server?.stop();
  }

  async killServer(): Promise<void> {
    await this.#server?.kill();
  }

  async killRunner(): Promise<void> {
    await this.#runner?.kill();
  }

  async killAll(): Promise<void> {
    const named = this.#named.map((runner) => runner.kill());
    await Promise.all([this.killServer(), this.killRunner(), ...named]);
  }

  /** The last log lines of the processes, for a report. */
  logTail(): string {
    const files = ["server.log", "runner.log", "command.log"].map((name) => join(this.home, name));
    return files
      .filter((file) => existsSync(file))
      .map((file) => `— ${file.slice(this.home.length + 1)}\n${tailOf(file)}`)
      .join("\n");
  }

  #launch(args: string[], logName: string, env: Record<string, string>): MusterProcess {
    const logFile = join(this.home, logName);
    const { cleanup, nodeOptions = [] } = this.#options;
    return new MusterProcess({ cleanup, args: [...nodeOptions, ...args], env, logFile });
  }

  async #createToken(): Promise<string> {
    const api = new Api({ url: this.url, key: this.key });
    return (await api.patient.runnerTokens.create({ body: { name: "fault runner" } })).token;
  }
}
