/**
 * `/mcp` against the protocol's conformance suite: all of it with the tools that the suite expects,
 * behind the same proxy, and the parts without such tools with the real server.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getRequestListener } from "@hono/node-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "#base/clock.ts";
import { silentLog as log } from "#base/log.ts";
import { owner } from "#features/testing/index.ts";
import { createApp } from "#surfaces/http/app.ts";
import { createCallers } from "#surfaces/http/guards/callers.ts";
import { allowedHosts } from "#surfaces/http/guards/guard.ts";
import { StreamSlots } from "#surfaces/http/sockets/stream-slots.ts";
import { mcpRoute } from "#surfaces/mcp/route.ts";
import { failed, succeeded, type Toolbox } from "#surfaces/mcp/toolbox.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { type AuthProxy, openAuthProxy, runSuite, suite } from "./suite.ts";

const program = "program" in suite ? suite.program : "";
if ("missing" in suite) console.warn(`The conformance suite is skipped: ${suite.missing}.`);

const SCHEMA_2020 = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object" as const,
  $defs: {
    address: {
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" } },
  additionalProperties: false,
};

const toolbox: Toolbox = {
  instructions: "For the suite.",
  mayWait: () => false,
  isRepeatable: () => true,
  list: async () => [
    ...["test_simple_text", "test_error_handling", "test_tool_with_progress"].map((name) => ({
      name,
      description: name,
      inputSchema: { type: "object" as const },
    })),
    { name: "json_schema_2020_12_tool", description: "It has one.", inputSchema: SCHEMA_2020 },
  ],
  async call(name, _input, { progress }) {
    if (name === "test_error_handling") return failed("This tool fails, as it should.");
    if (name === "test_tool_with_progress")
      for (const step of ["begun", "half", "done"]) {
        progress(step);
        await systemClock.sleep(5);
      }
    else if (name !== "test_simple_text") return failed(`There is no tool named ${name}.`);
    return succeeded("This is a simple text response for testing.");
  },
};

/** The route alone, with the suite's tools. */
async function serve({ server: { kernel } }: Platform): Promise<{ server: Server; url: string }> {
  let port = 0;
  const caller = { principal: owner, credentialId: "crd_1", kind: "api_key" };
  const auth = { authenticate: async () => caller, wasSignedOut: async () => false };
  const clock = systemClock;
  const callers = createCallers({ auth, clock, cookieName: () => "none", rateLimit: 0 });
  const app = createApp({ callers, hosts: allowedHosts("127.0.0.1", () => port, undefined), log });
  const { announcer, ids } = kernel.engine;
  const streams = new StreamSlots();
  const parts = { callers, streams, ids, announcer, log, version: "0" };
  mcpRoute(app, { ...parts, toolboxFor: () => toolbox });
  const server = createServer(
    getRequestListener(app.hono.fetch as never, { overrideGlobalObjects: false }),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
  return { server, url: `http://127.0.0.1:${port}` };
}

describe.skipIf(program === "")("the conformance suite of MCP", () => {
  let folder: string;
  let platform: Platform;
  let doors: AuthProxy[] = [];
  let alone: Awaited<ReturnType<typeof serve>>;
  const doorTo = async (target: string, secret: string) => {
    const door = await openAuthProxy(target, secret);
    doors = [...doors, door];
    return door.url;
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "muster-conformance-"));
    platform = await startPlatform({ runner: false });
    alone = await serve(platform);
  });
  afterAll(async () => {
    for (const door of doors) door.close();
    alone.server.close();
    await platform.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("passes everything that is not skipped by name", async () => {
    const url = await doorTo(alone.url, "any");
    const skipped = join(import.meta.dirname, "mcp-skipped.yml");
    const args = ["--url", url, "--expected-failures", skipped];
    const { passed, said } = await runSuite(program, folder, args);
    expect(passed, said).toBe(true);
    // Not among the scenarios that run by default.
    const schema = await runSuite(program, folder, [
      "--url",
      url,
      "--scenario",
      "json-schema-2020-12",
    ]);
    expect(schema.passed, schema.said).toBe(true);
  }, 120_000);

  it.each([
    "server-initialize",
    "ping",
    "tools-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
  ])(
    "is content with the server as it is: %s",
    async (scenario) => {
      const url = await doorTo(platform.url, platform.key);
      const args = ["--url", url, "--scenario", scenario];
      const { passed, said } = await runSuite(program, folder, args);
      expect(passed, said).toBe(true);
    },
    30_000,
  );
});
