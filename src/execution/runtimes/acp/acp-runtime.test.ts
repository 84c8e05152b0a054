/** Runs the ACP runtime with the real OpenCode program against a model on localhost. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeTurn } from "#execution/runtimes/fake-turn.ts";
import { testRuntime } from "#execution/runtimes/runtime.contract.ts";
import type { Runtime } from "#execution/runtimes/runtime.ts";
import { installAgent, OPENCODE_PACKAGE } from "#test/model-server/install-agent.ts";
import { type ModelServer, startModelServer, TEST_MODEL } from "#test/model-server/model-server.ts";
import { createAcpRuntime } from "./acp-runtime.ts";
import { OPENCODE } from "./preset.ts";

const installed = await installAgent(OPENCODE_PACKAGE);
const program = "program" in installed ? installed.program : "";
if ("missing" in installed) console.warn(`The OpenCode suite is skipped: ${installed.missing}.`);

let model: ModelServer;
let home: string;
/** Shared by most tests: starting the program takes seconds. */
let shared: Runtime;

function openCode(): Runtime {
  return createAcpRuntime({
    preset: { ...OPENCODE, command: [program, "acp"] },
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
}

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
    permission: { bash: "ask", edit: "allow" },
  };
}

beforeAll(async () => {
  model = await startModelServer();
  home = mkdtempSync(join(tmpdir(), "muster-acp-"));
  shared = openCode();
  // The program sets itself up at its first start, which is not tested here.
  if (program !== "") await new FakeTurn({ content: "SAY ready" }).work(shared);
}, 120_000);
afterAll(async () => {
  await shared.close?.();
  await model.close();
  rmSync(home, { recursive: true, force: true });
});

const BASH = 'CALL bash {"command": "echo from-the-agent", "description": "say it"}';

describe.skipIf(program === "")("OpenCode over ACP", () => {
  testRuntime({
    name: "acp",
    create: () => shared,
    prompts: { answer: "SAY a longer answer", slow: "SLOW 200 50", tool: BASH },
    timeoutMs: 15_000,
    skip: [
      {
        reason: "the agent performs its tools itself; see the permission tests here",
        tests: [
          "takes a step before it calls a tool",
          "journals a call before it makes it, and its result after",
          "does not reject when a tool fails",
        ],
      },
      {
        reason: "the agent is asked to go on, and what it then says is its own",
        tests: [
          "repeats nothing that stands in the journal",
          "never makes a call that was in flight a second time",
        ],
      },
    ],
  });

  it("asks for permission, obeys the answer, and goes on in a new process where it was", async () => {
    const turn = new FakeTurn({ content: BASH, sessionId: "ses_grant" });
    turn.onTool = () => ({ output: { decision: "allow_once" }, error: null });
    const end = await turn.work(shared);
    expect(end).toMatchObject({ outcome: "completed", usage: { outputTokens: 20 } });
    expect(end.result).toContain("Tool said: from-the-agent");
    expect(turn.items).toMatchObject([
      { type: "message", text: "Calling bash. " },
      { type: "pre_tool", tool: "bash", input: { command: "echo from-the-agent" } },
      { type: "post_tool", tool: "bash", error: null },
      { type: "message", text: expect.stringContaining("Tool said: from-the-agent") },
    ]);
    const begun = turn.acts.findIndex(
      (act) => act.did === "append" && act.item.type === "pre_tool",
    );
    const asked = turn.acts.findIndex(
      (act) => act.did === "tool" && act.name === "request_permission",
    );
    expect(asked).toBeGreaterThan(begun);
    expect(turn.bindings).toMatchObject([{ executorType: "opencode" }]);

    const denied = new FakeTurn({ content: `${BASH}\nSAY fine then`, sessionId: "ses_grant" });
    denied.onTool = () => ({ output: null, error: "nobody there" });
    await denied.work(shared);
    expect(denied.bindings).toEqual([]);
    expect(denied.items.find(({ type }) => type === "post_tool")).toMatchObject({
      error: expect.any(String),
    });

    await shared.close?.();
    const { executorSessionId = null } = turn.bindings[0] ?? {};
    const next = new FakeTurn({ content: "SAY again", sessionId: "ses_grant", executorSessionId });
    await next.work(shared);
    expect(next.items).toMatchObject([{ type: "message", text: "again" }]);
    expect(next.bindings[0]?.executorSessionId).toBe(executorSessionId);
    expect(JSON.stringify(model.requests.at(-1)?.body.messages)).toContain("from-the-agent");
  }, 60_000);
});

describe("an agent program that is not what it should be", () => {
  const broken = (command: string[]) =>
    createAcpRuntime({
      preset: { ...OPENCODE, command },
      place: () => ({ cwd: home, env: { PATH: process.env.PATH ?? "" } }),
    });

  it("fails the turn and says how to get it when it is missing", async () => {
    const end = await new FakeTurn().work(broken(["no-such-agent"]));
    expect(end).toMatchObject({ outcome: "failed", error: { code: "agent_not_started" } });
    expect(end.error?.message).toContain(OPENCODE.install);
  });

  it("fails the turn with its last words when it ends at once", async () => {
    const end = await new FakeTurn().work(broken(["sh", "-c", "echo no licence >&2; exit 3"]));
    expect(end).toMatchObject({ outcome: "failed", error: { code: "agent_exited" } });
    expect(end.error?.message).toMatch(/code 3.*no licence/);
  });

  it("is killed with its children when the turn is cancelled while it starts", async () => {
    const turn = new FakeTurn();
    const ended = turn.work(broken(["sh", "-c", "setsid sleep 300 & sleep 300"]));
    await new Promise((resolve) => setTimeout(resolve, 200));
    turn.cancel("stop");
    expect(await ended).toMatchObject({ outcome: "aborted" });
  });
});
