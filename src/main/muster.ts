#!/usr/bin/env node
/** The program: `muster <command>`. What a command does not need is not loaded. */
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Config, loadConfig } from "#base/config.ts";
import { createLog, type Log } from "#base/log.ts";
import { Refusal } from "#base/refusal.ts";

const here = import.meta.dirname;
/** Bundled, this file lies in dist/; from source, in src/main/. */
const filesFolder = basename(here) === "main" ? join(here, "../../dist") : here;
const program = fileURLToPath(import.meta.url);

const SIGNAL_TWICE_MS = 1_000;
const EXIT_INTERRUPTED = 130;

interface Life {
  stop(): Promise<void>;
  kill?(): void;
}

async function main(args: string[]): Promise<void> {
  const [command = "help", ...rest] = args;
  switch (command) {
    case "up":
    case "server":
      return serve(command);
    case "runner":
      return runRunner(rest);
    default: {
      const { runCli } = await import("./cli.ts");
      return runCli(args.length === 0 ? ["--help"] : args, main);
    }
  }
}

async function serve(command: "up" | "server"): Promise<void> {
  const config = loadConfig();
  const log = createLog({ level: config.logLevel });
  if (command === "up") {
    const { up } = await import("./up.ts");
    return live(await up(config, log, program, filesFolder), log);
  }
  const { startServer } = await import("./server.ts");
  const server = await startServer(config, log, filesFolder);
  process.stdout.write(`Muster is ready at ${server.http.url}\n`);
  live(server, log);
}

async function runRunner(args: string[]): Promise<void> {
  const config = loadConfig();
  const log = createLog({ level: config.logLevel });
  const { remoteTransport, startRunner } = await import("./runner.ts");
  const settings = runnerSettings(config, args);
  if (settings.withParent) endWithParent();
  const running = await startRunner(
    settings,
    remoteTransport(settings.server, settings.token),
    log,
  );
  live({ stop: () => running.drain() }, log);
  await running.runner.ended();
}

function runnerSettings(config: Config, args: string[]) {
  const { values } = parseArgs({
    args,
    options: {
      server: { type: "string" },
      token: { type: "string" },
      "token-file": { type: "string" },
      folder: { type: "string" },
      name: { type: "string" },
      profile: { type: "string", default: "default" },
      tag: { type: "string", multiple: true, default: [] },
      "project-dir": { type: "string" },
      capacity: { type: "string" },
      "drain-ms": { type: "string", default: "20000" },
      "with-parent": { type: "boolean", default: false },
      json: { type: "boolean", default: false },
    },
  });
  const token =
    values.token ??
    (values["token-file"] === undefined ? config.token : readToken(values["token-file"]));
  if (token === undefined) {
    throw new Refusal(
      "invalid",
      "token_required",
      "A runner needs a token: make one with `npx muster runners token NAME`, then give it with --token, --token-file or MUSTER_TOKEN.",
    );
  }
  return {
    server: values.server ?? config.server ?? `http://127.0.0.1:${config.port}`,
    token,
    withParent: values["with-parent"],
    folder: resolve(values.folder ?? join(config.home, "runner")),
    name: values.name,
    profile: values.profile,
    tags: values.tag,
    projectDir: values["project-dir"] ?? null,
    capacity: wholeNumber("--capacity", values.capacity, config.runnerCapacity),
    drainMs: wholeNumber("--drain-ms", values["drain-ms"], 0),
  };
}

function readToken(path: string): string {
  return process.getBuiltinModule("node:fs").readFileSync(path, "utf8").trim();
}

function wholeNumber(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  if (/^\d+$/.test(text)) return Number(text);
  throw new Refusal("invalid", "usage", `${name} must be a whole number.`);
}

/** A runner started by a server must not outlive it, even when the server is killed. */
function endWithParent(): void {
  process.stdin.on("end", () => process.kill(process.pid, "SIGKILL"));
  process.stdin.resume();
}

/** Ends in order at the first signal, at once at the second. */
function live(running: Life, log: Log): void {
  let askedAt: number | undefined;
  const onSignal = () => {
    const now = Date.now();
    if (askedAt === undefined) {
      askedAt = now;
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
    if (now - askedAt < SIGNAL_TWICE_MS) return;
    running.kill?.();
    process.exit(EXIT_INTERRUPTED);
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  if (error instanceof Refusal) process.stderr.write(`${error.message}\n`);
  else
    process.stderr.write(
      `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
  process.exit(error instanceof Refusal && error.kind === "invalid" ? 2 : 1);
});
