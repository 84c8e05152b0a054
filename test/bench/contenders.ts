/** Starts the contenders: the built program and the floor. Both serve the same few routes. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { cpuMs, listTree, type Memory, memoryOf } from "./processes.ts";

const ROOT = resolve(import.meta.dirname, "../..");
/** The options that `npm start` uses. */
const NODE_OPTIONS = JSON.parse(
  readFileSync(join(ROOT, "scripts/node-options.json"), "utf8"),
) as string[];
const READY_EVERY_MS = 4;
const READY_WITHIN_MS = 60_000;

export interface Target {
  port: number;
  /** Sent with every request; the floor ignores it. */
  key: string;
}

export interface Contender extends Target {
  pid: number;
  home: string;
  /** Time from the start of the process to the first good answer of `/ready`. */
  readyMs: number;
  startedAt: number;
  memory(): Memory;
  cpuMs(): number;
  kill(): Promise<void>;
  stop(): Promise<void>;
}

export interface OurOptions {
  home: string;
  runner?: "process" | "inline" | "none";
  runtime?: string;
  nodeOptions?: readonly string[];
  /** The port of the bench's model. */
  modelPort?: number;
  /** A build from another folder, to compare two builds. */
  program?: string;
  env?: Readonly<Record<string, string>>;
}

export async function startOurs(options: OurOptions): Promise<Contender> {
  const { home, runner = "process", runtime = "echo", nodeOptions = NODE_OPTIONS } = options;
  const { program = join(ROOT, "dist/muster.js"), modelPort, env = {} } = options;
  const port = await freePort();
  mkdirSync(home, { recursive: true });
  return start(home, port, [...nodeOptions, program, "up"], {
    MUSTER_HOME: home,
    MUSTER_PORT: String(port),
    MUSTER_RUNNER: runner,
    MUSTER_RUNTIME: runtime,
    MUSTER_RATE_LIMIT: "0",
    MUSTER_MAX_SESSIONS: "1000000",
    MUSTER_MAX_ORG_SESSIONS: "1000000",
    MUSTER_MAX_UNATTENDED_TURNS: "1000000",
    MUSTER_LOG_LEVEL: "warn",
    ...(modelPort === undefined ? {} : modelSettings(modelPort)),
    ...env,
  });
}

function modelSettings(port: number): Record<string, string> {
  return { ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}/v1`, ANTHROPIC_API_KEY: "bench" };
}

export async function startFloor(
  home: string,
  runner: "inline" | "none",
  modelPort = 0,
): Promise<Contender> {
  const port = await freePort();
  mkdirSync(home, { recursive: true });
  const program = join(import.meta.dirname, "floor-server.ts");
  return start(home, port, [program, String(port), home, runner, String(modelPort)], {});
}

/** Starts a server and waits until it is ready. */
async function start(
  home: string,
  port: number,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Contender> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ["ignore", "ignore", "inherit"],
  });
  await untilReady(child, port);
  const readyMs = performance.now() - startedAt;
  const pid = child.pid as number;
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((done) => child.once("exit", done));
    child.kill(signal);
    await gone;
  };
  return {
    port,
    key: readKey(home),
    pid,
    home,
    readyMs,
    startedAt,
    memory: () => memoryOf(listTree(pid)),
    cpuMs: () => cpuMs(listTree(pid)),
    kill: () => end("SIGKILL"),
    stop: () => end("SIGTERM"),
  };
}

function readKey(home: string): string {
  try {
    return readFileSync(join(home, "owner.key"), "utf8").trim();
  } catch {
    return "none";
  }
}

async function untilReady(child: ChildProcess, port: number): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS;
  while (!(await isReady(port))) {
    if (child.exitCode !== null) throw new Error(`a server ended with ${child.exitCode}`);
    if (performance.now() > deadline) throw new Error("a server did not become ready");
    await sleep(READY_EVERY_MS);
  }
}

function isReady(port: number): Promise<boolean> {
  return new Promise((done) => {
    const asked = request({ port, host: "127.0.0.1", path: "/ready", agent: false }, (response) => {
      response.resume();
      done(response.statusCode === 200);
    });
    asked.on("error", () => done(false));
    asked.end();
  });
}

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer();
    server.on("error", fail);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => done(port));
    });
  });
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
}
