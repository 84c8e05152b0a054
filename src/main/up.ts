/** `muster up`: the whole product on one machine. */
import { hostname } from "node:os";
import { join } from "node:path";
import type { Config } from "#base/config.ts";
import type { Log } from "#base/log.ts";
import { tryBubblewrap } from "#base/machine/try-bubblewrap.ts";
import { bannerOf } from "./banner.ts";
import { createInlineTransport } from "./runner/inline-transport.ts";
import { superviseRunner } from "./runner/runner-process.ts";
import { ensureRunnerToken, readSecret } from "./server/owner.ts";
import { type RunningServer, startServer } from "./server/server.ts";

const DRAIN_MS = 5_000;

export interface Running {
  stop(): Promise<void>;
  kill(): void;
}

export async function up(
  config: Config,
  log: Log,
  program: string,
  filesFolder: string,
): Promise<Running> {
  const server = await startServer(config, log, filesFolder);
  const runner = await startLocalRunner(config, log, program, server);
  const { url } = server.http;
  process.stdout.write(
    bannerOf({
      url,
      keyFile: server.owner.keyFile,
      link: process.stdout.isTTY ? await makeLink(server) : null,
      sandbox: await sandboxState(config, server),
    }),
  );
  return {
    async stop() {
      await runner?.stop();
      await server.stop();
    },
    kill: () => runner?.kill(),
  };
}

/** Makes a sign-in link. Only for a terminal: others may read a log, a journal or a build's output. */
async function makeLink({ auth, owner, http }: RunningServer): Promise<string> {
  const { token } = await auth.createLink(owner.userId, ["*"]);
  return `${http.url}/sign-in#token=${token}`;
}

/** Reads the state of the sandbox. The runner also finds it, but perhaps after the banner is printed. */
async function sandboxState(config: Config, { kernel, auth, owner }: RunningServer) {
  if (config.runner === "none") return { kind: "elsewhere" } as const;
  if (config.sandbox === "local") return { kind: "setting" } as const;
  const trial = await tryBubblewrap(config.path);
  if (trial.works) return { kind: "works" } as const;
  const caller = await auth.authenticate(readSecret(owner.keyFile));
  const { items } = caller ? await kernel.runners.list(caller.principal) : { items: [] };
  const isConsented = items.some(
    (runner) => runner.hostname === hostname() && runner.unsandboxed !== null,
  );
  const { why, fix } = trial;
  return isConsented
    ? ({ kind: "consent", fix } as const)
    : ({ kind: "missing", why, fix } as const);
}

async function startLocalRunner(
  config: Config,
  log: Log,
  program: string,
  server: RunningServer,
): Promise<Running | undefined> {
  if (config.runner === "none") return undefined;
  const tokenFile = await ensureRunnerToken(server.auth, config.home, server.owner.keyFile);
  const folder = join(config.home, "runner");
  if (config.runner === "process") {
    const args = [
      program,
      "runner",
      "--server",
      localAddress(config.host, server.http.port),
      "--token-file",
      tokenFile,
      "--folder",
      folder,
      "--with-parent",
      "--drain-ms",
      String(DRAIN_MS),
    ];
    // The runner uses an address of this very machine, whatever its name.
    return superviseRunner(args, { ...process.env, MUSTER_INSECURE_HTTP: "1" }, log);
  }
  const { startRunner } = await import("./runner/runner.ts");
  const caller = await server.auth.authenticate(readSecret(tokenFile));
  if (caller?.principal.kind !== "runner")
    throw new Error("the local runner's token is not a runner's");
  const transport = createInlineTransport(server.kernel.dispatcher, caller.principal, log);
  const running = await startRunner(
    {
      folder,
      name: undefined,
      profile: "default",
      tags: [],
      projectDir: null,
      capacity: config.runnerCapacity,
      testCrash: config.testCrash,
      drainMs: DRAIN_MS,
      endsWithServer: true,
      native: config,
      gateway: {
        // The public address may be unreachable from this machine.
        serverUrl: localAddress(config.host, server.http.port),
        token: readSecret(tokenFile),
      },
    },
    transport,
    log,
  );
  return { stop: () => running.drain(), kill: () => {} };
}

/** Address of the server on its own machine: the address it listens on, or loopback for all of them. */
function localAddress(host: string, port: number): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}
