/**
 * A runner that offers a runtime of its own beside the built-in ones.
 *
 *     MUSTER_TOKEN=$(npx muster runners token example --json | jq -r .token) node examples/runtime/runner.ts
 *     npx muster run --runtime line-numbers $'first\nsecond'
 *
 * MUSTER_SERVER names the server (default: this machine), MUSTER_HOME the data folder, in which the
 * runner keeps its files. Ctrl-C lets running turns finish and ends.
 */
import { join } from "node:path";
import { loadConfig } from "#base/config.ts";
import { createLog } from "#base/log.ts";
import { remoteTransport, startRunner } from "#main/runner/runner.ts";
import { createLineNumbersRuntime } from "./line-numbers.ts";

const DRAIN_MS = 5_000;

const config = loadConfig();
const { token, server = `http://127.0.0.1:${config.port}` } = config;
if (token === undefined) throw new Error("Set MUSTER_TOKEN: `npx muster runners token example`.");

const runtime = createLineNumbersRuntime();
const running = await startRunner(
  {
    folder: join(config.home, "example-runner"),
    name: "example",
    profile: "default",
    tags: [],
    projectDir: null,
    capacity: 4,
    drainMs: DRAIN_MS,
    native: config,
    gateway: { serverUrl: server, token },
    runtimes: [runtime],
  },
  remoteTransport(server, token),
  createLog({ level: config.logLevel }),
);
console.log(`The runtime ${runtime.name} is offered to ${server}.`);

for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void running.drain());
await running.runner.ended();
