/** The program: `muster <command>`. Each command loads only what it needs. */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Environment, loadConfig } from "#base/config.ts";
import { createLog, type Log } from "#base/log.ts";
import { requireEncrypted } from "#base/net/plain-http.ts";
import { Refusal } from "#base/refusal.ts";
import { terminalText } from "#base/text/visible-text.ts";
import { exitCodeOf } from "#surfaces/cli/kit/exit-codes.ts";
import type { RunnerStart } from "./runner/runner.ts";

const DRAIN_MS = 20_000;
const SIGNAL_TWICE_MS = 1_000;
const EXIT_INTERRUPTED = 130;

/** Paths of the program: its entry, for starting itself again, and its pages. */
export interface ProgramPaths {
  program: string;
  filesFolder: string;
}

interface RunningProgram {
  stop(): Promise<void>;
  kill?(): void;
}

/**
 * Handles starts without options here, so that only their own modules are loaded. Everything else, and every
 * start with options, goes through the command line.
 */
async function main(args: string[], place: ProgramPaths): Promise<void> {
  const [command = "--help", ...rest] = args;
  const serve = (name: "up" | "server", env?: Environment) => startServing(name, place, env);
  if (rest.length === 0 && (command === "up" || command === "server")) return serve(command);
  if (command === "runner" && rest.includes("--with-parent")) return runChild(rest);
  const { runCli } = await import("./cli.ts");
  return runCli(args.length === 0 ? [command] : args, { serve, runRunner });
}

async function startServing(
  command: "up" | "server",
  { program, filesFolder }: ProgramPaths,
  env: Environment = process.env,
): Promise<void> {
  const config = loadConfig(env);
  const log = createLog({ level: config.logLevel });
  if (command === "up") {
    const { up } = await import("./up.ts");
    return stopOnSignals(await up(config, log, program, filesFolder), log);
  }
  const { startServer } = await import("./server/server.ts");
  const server = await startServer(config, log, filesFolder);
  process.stdout.write(`Muster is ready at ${server.http.url}\n`);
  stopOnSignals(server, log);
}

async function runRunner(start: RunnerStart): Promise<void> {
  const config = loadConfig(start.env);
  const log = createLog({ level: config.logLevel });
  const { readSecret } = await import("./server/owner.ts");
  const token = start.tokenFile === undefined ? config.token : readSecret(start.tokenFile);
  if (token === undefined) {
    throw new Refusal(
      "invalid",
      "token_required",
      "A runner needs a token: create one with `npx muster runners token NAME`, then pass it with --token-file or MUSTER_TOKEN.",
    );
  }
  const { remoteTransport, startRunner } = await import("./runner/runner.ts");
  const serverUrl = config.server ?? `http://127.0.0.1:${config.port}`;
  requireEncrypted(serverUrl, config.insecureHttp);
  const settings = {
    folder: resolve(start.folder ?? join(config.home, "runner")),
    name: start.name,
    profile: start.profile ?? "default",
    tags: start.tags,
    projectDir: start.projectDir ?? null,
    capacity: config.runnerCapacity,
    testCrash: config.testCrash,
    drainMs: start.drainMs ?? DRAIN_MS,
    endsWithServer: start.endsWithServer ?? false,
    native: config,
    gateway: { serverUrl, token },
  };
  const running = await startRunner(settings, remoteTransport(serverUrl, token), log);
  stopOnSignals({ stop: () => running.drain() }, log);
  await running.runner.ended();
}

/** The runner that `muster up` starts beside its server. */
function runChild(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      server: { type: "string", default: "" },
      "token-file": { type: "string", default: "" },
      folder: { type: "string", default: "" },
      "drain-ms": { type: "string", default: "0" },
      "with-parent": { type: "boolean" },
    },
  });
  endWithParent();
  return runRunner({
    env: { ...process.env, MUSTER_SERVER: values.server },
    tags: [],
    tokenFile: values["token-file"],
    folder: values.folder,
    drainMs: Number(values["drain-ms"]),
    endsWithServer: true,
  });
}

/** A runner started by a server must not outlive it, even when the server is killed. */
function endWithParent(): void {
  process.stdin.on("end", () => process.kill(process.pid, "SIGKILL"));
  process.stdin.resume();
}

/** Ends in order at the first signal, at once at the second. */
function stopOnSignals(running: RunningProgram, log: Log): void {
  let stopRequestedAt: number | undefined;
  const onSignal = () => {
    const now = Date.now();
    if (stopRequestedAt === undefined) {
      stopRequestedAt = now;
      running.stop().then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ err: error }, "could not stop in order");
          process.exit(1);
        },
      );
      return;
    }
    // A terminal and a parent may both pass on the same signal.
    if (now - stopRequestedAt < SIGNAL_TWICE_MS) return;
    running.kill?.();
    process.exit(EXIT_INTERRUPTED);
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
}

/** Runs a command; an error ends the process with a sentence and a code. */
export function start(args: string[], paths: ProgramPaths): void {
  main(args, paths).catch((error: unknown) => {
    const isRefusal = error instanceof Refusal;
    const text = error instanceof Error && !isRefusal ? error.stack : undefined;
    const message = text ?? (error instanceof Error ? error.message : String(error));
    process.stderr.write(`${terminalText(message)}\n`);
    process.exit(exitCodeOf(error));
  });
}
