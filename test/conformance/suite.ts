/**
 * Runs the protocol's own conformance suite against a server. The suite knows no keys, so it
 * connects through a proxy that adds one and forwards every other header unchanged.
 */
import { execFile } from "node:child_process";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { installAgent } from "#test/model-server/install-agent.ts";

const SUITE = {
  package: "@modelcontextprotocol/conformance",
  version: "0.1.16",
  program: "dist/index.js",
};

export const suite = await installAgent(SUITE);

export interface AuthProxy {
  url: string;
  close(): void;
}

/** Opens a proxy to a server at `target` that adds the bearer token `secret`. */
export async function openAuthProxy(target: string, secret: string): Promise<AuthProxy> {
  const { host: realHost, port: realPort } = new URL(target);
  let ownPort = "";
  // Host names with the proxy's port stand for the server's own; all others must arrive unchanged.
  const through = (value: string) => value.replace(new RegExp(`:${ownPort}$`), `:${realPort}`);
  const door = createServer((incoming, outgoing) => {
    const { host = realHost, origin, ...headers } = incoming.headers;
    const passed = request(
      `${target}${incoming.url}`,
      {
        method: incoming.method ?? "POST",
        headers: {
          ...headers,
          host: through(host),
          ...(origin === undefined ? {} : { origin: through(origin) }),
          authorization: `Bearer ${secret}`,
        },
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    passed.on("error", () => outgoing.destroy());
    outgoing.on("close", () => passed.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => door.listen(0, "127.0.0.1", resolve));
  ownPort = String((door.address() as AddressInfo).port);
  return {
    url: `http://localhost:${ownPort}/mcp`,
    close() {
      door.close();
      door.closeAllConnections();
    },
  };
}

/** The output of the suite, and its success. */
export function runSuite(
  program: string,
  folder: string,
  args: readonly string[],
): Promise<{ passed: boolean; said: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [program, "server", ...args],
      { cwd: folder, timeout: 110_000, maxBuffer: 8 * 1024 * 1024 },
      (error, stdout, stderr) => resolve({ passed: error === null, said: `${stdout}\n${stderr}` }),
    );
  });
}
