import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Run } from "#protocol/runs.ts";
import { type Platform, startPlatform } from "#test/platform.ts";

/** The runs API, and the fate of work when runners come and go. */
describe("runs", () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await startPlatform();
  });
  afterAll(() => platform.stop());

  const run = (body: Record<string, unknown>) =>
    platform.request<{ run: Run }>("POST", "/api/runs", { type: "start_session", ...body });

  it("waits for the end with sync, and returns the result", async () => {
    const { status, body } = await run({
      prompt: "say done",
      runtime: "scripted",
      executionMode: "sync",
    });
    expect(status).toBe(201);
    expect(body.run).toMatchObject({
      state: "completed",
      outcome: "completed",
      result: "done",
      executionMode: "sync",
    });
    const result = await platform.api.runs.result({ id: body.run.id });
    expect(result).toMatchObject({ result: "done" });
  });

  it("answers 202 when a sync run takes too long, and the run continues", async () => {
    const { status, body } = await run({
      prompt: "sleep 400\nsay late",
      runtime: "scripted",
      executionMode: "sync",
      timeoutMs: 50,
    });
    expect(status).toBe(202);
    expect(await platform.request("GET", `/api/runs/${body.run.id}/result`)).toMatchObject({
      status: 409,
      body: { error: { code: "run_not_settled" } },
    });
    await platform.promptIn(body.run.promptId, "settled");
    expect(await platform.api.runs.result({ id: body.run.id })).toMatchObject({ result: "late" });
  });

  it("resumes a session, and shows a run whose prompt is queued as pending", async () => {
    const { body: first } = await run({ prompt: "say one\nsleep 300", runtime: "scripted" });
    const { body: second } = await run({
      type: "resume_session",
      sessionId: first.run.sessionId,
      prompt: "say two",
    });
    expect(second.run).toMatchObject({ state: "pending", sessionId: first.run.sessionId });
    const { runs } = platform.api;
    expect((await runs.get({ id: second.run.id })).run.state).toBe("pending");
    await platform.promptIn(second.run.promptId, "settled");
    const { items } = await runs.list({ query: { session: first.run.sessionId } });
    expect(items.map((item) => item.id).sort()).toEqual([first.run.id, second.run.id].sort());
  });

  it("prompts the parent when an async_callback run has ended, once", async () => {
    const parent = await platform.createSession({ runtime: "echo", title: "parent" });
    const { body } = await run({
      prompt: "say from the child",
      runtime: "scripted",
      title: "child",
      parentSessionId: parent.id,
      executionMode: "async_callback",
    });
    await platform.promptIn(body.run.promptId, "settled");
    const prompts = () => platform.api.prompts.list({ id: parent.id });
    await expect.poll(async () => (await prompts()).items.length).toBe(1);
    const [told] = (await prompts()).items;
    expect(told).toMatchObject({ author: { kind: "system" }, origin: { channelType: "wake" } });
    expect(told?.content).toContain(`worker.ended: "child" (${body.run.sessionId})`);
    expect(told?.content).toContain("> from the child");
  });

  it("stops a running run, and a pending one", async () => {
    const { body: first } = await run({ prompt: "hang", runtime: "scripted" });
    const { body: second } = await run({
      type: "resume_session",
      sessionId: first.run.sessionId,
      prompt: "say never",
    });
    const { runs } = platform.api;
    expect((await runs.stop({ id: second.run.id })).run).toMatchObject({
      state: "stopped",
      outcome: "withdrawn",
    });
    await platform.promptIn(first.run.promptId, "running");
    await runs.stop({ id: first.run.id });
    expect(await platform.promptIn(first.run.promptId, "settled")).toMatchObject({
      outcome: "aborted",
    });
  });

  const refused: [string, Record<string, unknown>, number, string][] = [
    ["an agent that does not exist", { agentName: "ghost", prompt: "x" }, 404, "agent_not_found"],
    ["resuming nothing", { type: "resume_session", prompt: "x" }, 400, "session_required"],
    ["starting in a session", { sessionId: "ses_x", prompt: "x" }, 400, "session_not_allowed"],
    ["neither prompt nor parameters", {}, 400, "invalid_input"],
    ["a field that does not exist", { prompt: "x", colour: "red" }, 400, "unknown_field"],
    [
      "a demand that does not exist",
      { prompt: "x", demands: { moon: true } },
      400,
      "unknown_field",
    ],
    [
      "a callback to nobody",
      { prompt: "x", executionMode: "async_callback" },
      400,
      "callback_without_parent",
    ],
    [
      "somebody else's session",
      { type: "resume_session", sessionId: "ses_other", prompt: "x" },
      404,
      "not_found",
    ],
  ];
  it.each(refused)("refuses %s", async (_name, body, status, code) => {
    expect(await run(body)).toMatchObject({ status, body: { error: { code } } });
  });

  it("refuses to resume a session as another, and creates no run", async () => {
    const { body: first } = await run({ prompt: "say one", runtime: "scripted" });
    await platform.promptIn(first.run.promptId, "settled");
    const { sessionId } = first.run;
    const other = await platform.createSession({ runtime: "echo" });
    const resume = (fields: object) =>
      run({ type: "resume_session", sessionId, prompt: "say two", ...fields });
    for (const [name, value] of Object.entries({
      title: "t",
      runtime: "echo",
      model: "demo/story",
      projectDir: "/tmp",
      parentSessionId: other.id,
    }))
      expect(await resume({ [name]: value })).toMatchObject({
        status: 400,
        body: { error: { code: "field_not_allowed", message: expect.stringContaining(name) } },
      });
    expect(await resume({ executionMode: "async_callback" })).toMatchObject({
      status: 400,
      body: { error: { code: "callback_without_parent" } },
    });
    const { items } = await platform.api.runs.list({ query: { session: sessionId } });
    expect(items).toHaveLength(1);
  });

  it("resumes a child with a callback to its own parent, named or not", async () => {
    const parent = await platform.createSession({ runtime: "echo", title: "parent" });
    const callback = { runtime: "scripted", executionMode: "async_callback" };
    const fields = { prompt: "say one", parentSessionId: parent.id, ...callback };
    const { sessionId } = (await run(fields)).body.run;
    for (const parentSessionId of [undefined, parent.id])
      expect(
        await run({
          type: "resume_session",
          sessionId,
          prompt: "say two",
          executionMode: "async_callback",
          parentSessionId,
        }),
      ).toMatchObject({ status: 201 });
  });

  it("keeps a run for the runner it names", async () => {
    const { body } = await run({
      prompt: "say x",
      runtime: "scripted",
      demands: { tags: ["gpu"] },
    });
    const other = await run({ prompt: "say y", runtime: "scripted", executionMode: "sync" });
    expect(other.body.run.outcome).toBe("completed");
    const receipt = await platform.api.prompts.get({ id: body.run.promptId });
    expect(receipt.prompt).toMatchObject({
      state: "queued",
      waitingFor: { reason: "no_matching_runner" },
    });
    await platform.api.runs.stop({ id: body.run.id });
  });
});

describe("without a runner", () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await startPlatform({ runner: false });
  });
  afterAll(() => platform.stop());

  it("accepts prompts, says what they wait for, and runs them when a runner connects", async () => {
    const session = await platform.createSession({ runtime: "echo" });
    const prompt = await platform.prompt(session.id, "patience");
    const receipt = await platform.api.prompts.get({ id: prompt.id });
    expect(receipt.prompt).toMatchObject({
      state: "queued",
      waitingFor: { reason: "no_runner" },
    });
    const running = await platform.startRunner();
    expect(await platform.promptIn(prompt.id, "settled")).toMatchObject({ outcome: "completed" });
    const { runners } = platform.api;
    expect((await runners.list()).items).toMatchObject([
      { state: "online", runtimes: ["native", "echo", "scripted"] },
    ]);
    await running.drain();
    await expect.poll(async () => (await runners.list()).items[0]?.state).toBe("offline");
  });

  it("gives a turn released by a draining runner to the next one, which continues it", async () => {
    const session = await platform.createSession();
    const first = await platform.startRunner();
    const prompt = await platform.prompt(session.id, "say one\nsleep 1500\nsay two");
    const texts = async () =>
      (await platform.api.sessions.transcript({ id: session.id })).items
        .filter((entry) => entry.kind === "text")
        .map((entry) => entry.text);
    await expect.poll(texts).toEqual(["one"]);
    await first.drain();
    await platform.startRunner();
    const settled = await platform.promptIn(prompt.id, "settled");
    expect(settled).toMatchObject({ outcome: "completed", attempts: 2 });
    expect(await texts()).toEqual(["one", "two"]);
    const after = await platform.api.sessions.get({ id: session.id });
    expect(after.session.status).toBe("finished");
  });
});
