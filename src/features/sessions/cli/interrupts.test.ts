import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeServer, until } from "#test/cli/fake-server.ts";

const PROGRAM = fileURLToPath(new URL("../../../../test/cli/cli-process.ts", import.meta.url));
const STOP = "/api/sessions/ses_1/stop";

let server: FakeServer;
let child: ChildProcess | undefined;
beforeEach(async () => {
  server = await new FakeServer().start();
});
afterEach(async () => {
  child?.kill("SIGKILL");
  await server.stop();
});

/** Starts a process in the middle of a turn. */
async function startTurn() {
  const env = { PATH: process.env.PATH, ...server.env };
  const started = spawn(process.execPath, [PROGRAM, "run", "work"], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  child = started;
  const written = { out: "", err: "" };
  started.stdout.on("data", (chunk) => (written.out += chunk));
  started.stderr.on("data", (chunk) => (written.err += chunk));
  const exited = new Promise<number | null>((resolve) => started.on("exit", resolve));
  await until(() => server.streaming > 0 && server.prompts.size > 0, 9_000);
  const [prompt] = server.prompts.values();
  if (!prompt) throw new Error("no prompt");
  server.publish("run_claimed", { promptId: prompt.id });
  server.delta("ent_1", 0, "working");
  await until(() => written.out === "working");
  return { started, written, exited, prompt };
}

describe("Ctrl-C during a turn", () => {
  it("ends the turn at the first press and follows it to its end", async () => {
    const { started, written, exited, prompt } = await startTurn();
    server.onStop = () => server.settle(prompt, "aborted");
    // The terminal and the parent process may both pass on the same press.
    started.kill("SIGINT");
    started.kill("SIGINT");
    expect(await exited).toBe(130);
    expect(server.requests("POST", STOP)).toHaveLength(1);
    expect(written.err).toContain("press again to leave");
    expect(written.err).toContain("ended as aborted");
    expect(written.out).toBe("working\n");
  });

  it("leaves at once at the second press", async () => {
    const { started, written, exited } = await startTurn();
    started.kill("SIGINT");
    await until(() => written.err.includes("press again to leave"));
    await pause(250);
    started.kill("SIGINT");
    expect(await exited).toBe(130);
    expect(server.requests("POST", STOP)).toHaveLength(1);
  });
});
