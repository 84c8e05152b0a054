/** A task with a check: its command really runs in the sandbox, and the result decides. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ModelServer, startModelServer } from "#test/model-server/model-server.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import "#test/services/bubblewrap.ts";

const COMMAND = "grep -c otter animals.txt";

describe("a task with a check", () => {
  let platform: Platform;
  let model: ModelServer;
  beforeAll(async () => {
    model = await startModelServer();
    platform = await startPlatform({
      env: { MUSTER_MODEL: "openai/test-1", OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "k" },
    });
  });
  afterAll(async () => {
    await platform.stop();
    await model.close();
  });

  /** One turn in which the model makes these calls; returns the last result. */
  const turn = async (sessionId: string, ...calls: [tool: string, input: object][]) => {
    const lines = calls.map(([tool, input]) => `CALL ${tool} ${JSON.stringify(input)}`);
    const { id } = await platform.prompt(sessionId, [...lines, "SAY done"].join("\n"));
    expect(await platform.promptIn(id, "settled")).toMatchObject({ outcome: "completed" });
    return model.requests.at(-1)?.conversation.toolResults.join("\n") ?? "";
  };

  const createTask = async (id: string, title: string) => {
    const check = { kind: "command", command: COMMAND } as const;
    const { task } = await platform.api.tasks.create({ id, body: { title, sessionId: id, check } });
    return task.id;
  };

  it("is completed only after its command has passed", async () => {
    const { id } = await platform.createSession({ runtime: "native" });
    const taskId = await createTask(id, "List the animals");
    const read = () => platform.api.tasks.get({ id, taskId });
    const complete = ["task_update", { taskId, status: "completed", result: "listed" }] as const;

    expect(await turn(id, [...complete])).toContain("check_not_passed");
    const failing = await turn(id, ["bash", { command: COMMAND }], [...complete]);
    expect(failing).toContain("check_not_passed");
    expect(await read()).toMatchObject({
      task: { status: "pending" },
      checks: [{ passed: false, subject: COMMAND, exitCode: 2 }],
    });
    // A person cannot complete it by hand either, and an earlier result is not enough.
    const path = `/api/sessions/${id}/tasks/${taskId}`;
    const byHand = await platform.request("PUT", path, { status: "completed" });
    expect(byHand).toMatchObject({ status: 409, body: { error: { code: "check_not_passed" } } });

    const file = { path: "animals.txt", content: "otter\nheron\n" };
    const passed = await turn(id, ["write", file], ["bash", { command: COMMAND }], [...complete]);
    expect(passed).toContain('"status":"completed"');
    expect(await read()).toMatchObject({
      task: { status: "completed", result: "listed" },
      checks: [{ passed: true, exitCode: 0, output: expect.stringContaining("1") }, {}],
    });
  });

  it("is not completed by a check that passed before the files changed", async () => {
    const { id } = await platform.createSession({ runtime: "native" });
    const taskId = await createTask(id, "Keep the animals");
    const answer = await turn(
      id,
      ["write", { path: "animals.txt", content: "otter\n" }],
      ["bash", { command: COMMAND }],
      ["write", { path: "animals.txt", content: "heron\n" }],
      ["task_update", { taskId, status: "completed" }],
    );
    expect(answer).toContain("check_not_passed");
  });
});
