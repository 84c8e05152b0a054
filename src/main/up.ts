/** `muster up`: the whole product on one machine. */
import { join } from "node:path";
import type { Config } from "#base/config.ts";
import type { Log } from "#base/log.ts";
import { createInlineTransport } from "./inline-transport.ts";
import { ensureRunnerToken, readSecret } from "./owner.ts";
import { superviseRunner } from "./runner-process.ts";
import { type RunningServer, startServer } from "./server.ts";

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
  const { token } = await server.auth.createLink(server.owner.userId, ["*"]);
  process.stdout.write(
    [
      "",
      `  Muster is ready at ${server.http.url}`,
      "",
      `  Open   ${server.http.url}/sign-in#token=${token}`,
      "         (signs you in once, within 15 minutes; `npx muster login-link` makes another)",
      `  Key    ${server.owner.keyFile}`,
      `  Stop   Ctrl-C`,
      "",
      "",
    ].join("\n"),
  );
  return {
    async stop() {
      await runner?.stop();
      await server.stop();
    },
    kill: () => runner?.kill(),
  };
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
    // It speaks to an address of this very machine, whichever name that has.
    return superviseRunner(args, { ...process.env, MUSTER_INSECURE_HTTP: "1" }, log);
  }
  const { startRunner } = await import("./runner.ts");
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
      native: config,
      gateway: {
        // Not by its public address, which this machine may not be able to reach.
        serverUrl: localAddress(config.host, server.http.port),
        token: readSecret(tokenFile),
      },
    },
    transport,
    log,
  );
  return { stop: () => running.drain(), kill: () => {} };
}

/** Where this machine reaches its own server: the address it listens on, or loopback for all of them. */
function localAddress(host: string, port: number): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}
