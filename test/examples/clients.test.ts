import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Platform, startPlatform } from "#test/platform.ts";
import { runExample } from "./run-example.ts";

describe("examples of clients", () => {
  let platform: Platform;
  let home: string;

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), "muster-examples-"));
    platform = await startPlatform({ home });
  });
  afterAll(async () => {
    await platform.stop();
    rmSync(home, { recursive: true, force: true });
  });

  it("talks to a session over HTTP, with the owner's key of this machine", async () => {
    const env = { MUSTER_SERVER: platform.url, MUSTER_HOME: home };
    const { code, output, errors } = await runExample("api-client.ts", ["Hello, example"], env);
    expect(errors).toBe("");
    expect(code).toBe(0);
    expect(output).toMatch(
      /^session {2}ses_\w+\nprompt {3}pmt_\w+ is durable\nanswer {3}Hello, example\noutcome {2}completed\n$/,
    );
  });

  it("ends with the server's words when a request is refused", async () => {
    const env = { MUSTER_SERVER: platform.url, MUSTER_API_KEY: "mst_key_unknown" };
    const { code, errors } = await runExample("api-client.ts", [], env);
    expect(code).toBe(1);
    expect(errors).toMatch(/^ApiError: \S/m);
    expect(errors).toContain("code: 'unauthenticated'");
  });

  it("asks the orchestrator over MCP", async () => {
    const env = { MUSTER_SERVER: platform.url, MUSTER_API_KEY: platform.key };
    const { code, output, errors } = await runExample("mcp-client.ts", ["What can you do?"], env);
    expect(errors).toBe("");
    expect(code).toBe(0);
    expect(output).toMatch(/^tools {5}.*\bask_orchestrator\b.*\n/);
    expect(output).toMatch(/^progress {2}has started$/m);
    expect(output).toMatch(/^answered$/m);
    expect(output).toContain("demo model");
  });
});
