import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { testRuntime } from "#execution/runtimes/runtime.contract.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { createLineNumbersRuntime } from "../../examples/runtime/line-numbers.ts";
import { startExample } from "./run-example.ts";

testRuntime({
  name: "line-numbers",
  create: () => createLineNumbersRuntime({ pauseMs: 5 }),
  prompts: { answer: "one\ntwo", slow: "word ".repeat(1_000), tool: "one\ntwo" },
  skip: [
    {
      reason: "it knows no tools",
      tests: [
        "takes a step before it calls a tool",
        "journals a call before it makes it, and its result after",
        "does not reject when a tool fails",
        "never makes a call that was in flight a second time",
      ],
    },
  ],
});

describe("example of a runner with a runtime of its own", () => {
  let platform: Platform;
  let home: string;
  let runner: ChildProcess | undefined;

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), "muster-example-runner-"));
    platform = await startPlatform({ runner: false });
  });
  afterAll(async () => {
    runner?.kill("SIGKILL");
    await platform.stop();
    rmSync(home, { recursive: true, force: true });
  });

  it("offers it to a server, works a turn with it, and ends in order", async () => {
    const { body } = await platform.request<{ token: string }>("POST", "/api/runners/tokens", {
      name: "example",
    });
    const child = startExample("runtime/runner.ts", [], {
      MUSTER_SERVER: platform.url,
      MUSTER_TOKEN: body.token,
      MUSTER_HOME: home,
      MUSTER_LOG_LEVEL: "error",
    });
    runner = child;
    let output = "";
    child.stdout.on("data", (piece: Buffer) => {
      output += piece.toString("utf8");
    });
    child.stderr.on("data", (piece: Buffer) => {
      output += piece.toString("utf8");
    });
    await expect
      .poll(() => output)
      .toBe(`The runtime line-numbers is offered to ${platform.url}.\n`);

    const session = await platform.createSession({ runtime: "line-numbers" });
    const prompt = await platform.prompt(session.id, "first\nsecond");
    expect(await platform.promptIn(prompt.id, "settled")).toMatchObject({ outcome: "completed" });
    const events = await platform.events(session.id);
    const said = events
      .filter(({ type, role }) => type === "message" && role === "assistant")
      .map(({ content }) => content);
    expect(said).toEqual([
      [{ type: "text", text: "1. first" }],
      [{ type: "text", text: "2. second" }],
    ]);

    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
  });
});
