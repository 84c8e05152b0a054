/** A real agent program over ACP, with its session's tools served by the server. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAcpRuntime } from "#execution/runtimes/acp/acp-runtime.ts";
import { OPENCODE } from "#execution/runtimes/acp/preset.ts";
import { FakeTurn } from "#execution/runtimes/fake-turn.ts";
import type { Runtime } from "#execution/runtimes/runtime.ts";
import type { Prompt } from "#protocol/sessions.ts";
import { type HandRunner, handRunner, turnOf } from "#test/clients/mcp.ts";
import { installAgent, OPENCODE_PACKAGE } from "#test/model-server/install-agent.ts";
import { type ModelServer, startModelServer, TEST_MODEL } from "#test/model-server/model-server.ts";
import { type Platform, startPlatform } from "#test/platform.ts";

const installed = await installAgent(OPENCODE_PACKAGE);
const program = "program" in installed ? installed.program : "";
if ("missing" in installed) console.warn(`OpenCode with tools is skipped: ${installed.missing}.`);

describe.skipIf(program === "")("OpenCode with the tools of its session", () => {
  let platform: Platform;
  let runner: HandRunner;
  let model: ModelServer;
  let home: string;
  let runtime: Runtime;

  beforeAll(async () => {
    platform = await startPlatform({ runner: false, env: { MUSTER_RUNTIME: "native" } });
    runner = await handRunner(platform);
    model = await startModelServer();
    home = mkdtempSync(join(tmpdir(), "muster-mcp-agent-"));
    runtime = createAcpRuntime({
      preset: { ...OPENCODE, command: [program, "acp"] },
      serverUrl: platform.url,
      place: () => ({
        cwd: join(home, "project"),
        env: {
          PATH: process.env.PATH ?? "",
          HOME: home,
          OPENCODE_CONFIG_CONTENT: JSON.stringify(config()),
        },
      }),
      cancelGraceMs: 2000,
    });
  });
  afterAll(async () => {
    await runtime.close?.();
    await model.close();
    runner.close();
    await platform.stop();
    rmSync(home, { recursive: true, force: true });
  });

  function config(): object {
    const name = `test/${TEST_MODEL}`;
    const models = { [TEST_MODEL]: { tool_call: true, limit: { context: 100_000, output: 8000 } } };
    const options = { baseURL: `${model.url}/v1`, apiKey: "none" };
    return {
      autoupdate: false,
      share: "disabled",
      model: name,
      small_model: name,
      enabled_providers: ["test"],
      provider: { test: { npm: "@ai-sdk/anthropic", options, models } },
      permission: { "*": "allow" },
    };
  }

  it("acts as its session in each turn, with the token of that turn", async () => {
    const parent = await turnOf(platform, runner, { isSupervisor: true });
    const news = async () => {
      const path = `/api/sessions/${parent.sessionId}/prompts`;
      const { body } = await platform.request<{ items: Prompt[] }>("GET", path);
      // Pending notices are merged into one prompt.
      return body.items.flatMap(({ content }) => content.match(/word \w+/g) ?? []);
    };
    const child = await turnOf(platform, runner, { parentSessionId: parent.sessionId });
    const { sessionId } = child;
    const say = (word: string) => `CALL muster_notify_parent {"message": "word ${word}"}`;

    const first = new FakeTurn({ content: say("one"), sessionId, token: child.token });
    expect(await first.work(runtime)).toMatchObject({ outcome: "completed" });
    expect(await news()).toEqual(["word one"]);
    expect(first.items).toMatchObject([
      {},
      { type: "pre_tool", tool: "muster_notify_parent" },
      { type: "post_tool", error: null },
      { type: "message", text: expect.stringContaining("Your parent will read it") },
    ]);
    await child.turn.end("done");

    // The program stays alive between turns; the token of the earlier turn is no longer valid.
    await platform.prompt(sessionId, "again");
    const again = await runner.nextTurn(sessionId);
    const { token } = again.assignment;
    const { executorSessionId = null } = first.bindings[0] ?? {};
    const second = new FakeTurn({ content: say("two"), sessionId, token, executorSessionId });
    expect(await second.work(runtime)).toMatchObject({ outcome: "completed" });
    expect(await news()).toEqual(["word one", "word two"]);
    await again.end("done");
  }, 180_000);
});
