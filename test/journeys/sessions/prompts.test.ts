import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Session } from "#protocol/sessions.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";

/** The life of prompts, through the API on each database. */
function story(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let platform: Platform;

    beforeAll(async () => {
      platform = await startPlatform({ database });
    });
    afterAll(() => platform.stop());

    const transcript = async (id: string) => (await platform.api.sessions.transcript({ id })).items;
    const queue = async (id: string) =>
      (await platform.api.prompts.list({ id, query: { state: "queued,collecting" } })).items;
    const sessionNow = async (id: string) => (await platform.api.sessions.get({ id })).session;
    const said = async (id: string) =>
      (await transcript(id)).filter((entry) => entry.kind === "text");

    it("answers a prompt, and records every step in the receipt", async () => {
      const session = await platform.createSession({ runtime: "echo", title: "first" });
      expect(session).toMatchObject({
        title: "first",
        kind: "task",
        lifecycle: "active",
        activity: "idle",
        status: "pending",
      });
      const accepted = await platform.prompt(session.id, "hello");
      expect(accepted).toMatchObject({
        state: "queued",
        outcome: null,
        thread: "main",
        mode: "followup",
      });
      const settled = await platform.promptIn(accepted.id, "settled");
      expect(settled).toMatchObject({ outcome: "completed", attempts: 1, waitingFor: null });
      const { acceptedAt, queuedAt, startedAt, settledAt } = settled;
      for (const time of [acceptedAt, queuedAt, startedAt, settledAt]) {
        expect(Date.parse(time ?? "")).not.toBeNaN();
      }
      expect(await transcript(session.id)).toMatchObject([
        { kind: "prompt", role: "user", text: "hello" },
        { kind: "text", role: "assistant", text: "hello" },
      ]);
      const later = await sessionNow(session.id);
      expect(later).toMatchObject({ status: "finished", executorType: "echo", activity: "done" });
      expect(later.hostname).not.toBeNull();
      expect(later.lastResumedAt).toBeNull();
      await platform.promptIn((await platform.prompt(session.id, "again")).id, "settled");
      expect((await sessionNow(session.id)).lastResumedAt).not.toBeNull();
    });

    it("writes a log without gaps, in the order of events", async () => {
      const session = await platform.createSession({
        prompt: "think hm\nsay hi\ntool nothing {}",
      });
      const [prompt] = (await platform.api.prompts.list({ id: session.id })).items;
      await platform.promptIn(prompt?.id ?? "", "settled");
      const events = await platform.events(session.id);
      expect(events.map((event) => event.seq)).toEqual(events.map((_, i) => i + 1));
      expect(events.map((event) => event.type)).toEqual([
        "session_created",
        "prompt_accepted",
        "run_created",
        "session_start",
        "message",
        "run_claimed",
        "message",
        "message",
        "pre_tool",
        "post_tool",
        "run_settled",
        "prompt_settled",
        "session_stop",
      ]);
      expect(events.at(-1)).toMatchObject({ exitCode: 0, reason: "completed" });
    });

    it("admits a repeated dispatch once, and refuses different content under the same id", async () => {
      const session = await platform.createSession();
      const path = `/api/sessions/${session.id}/prompts`;
      const first = await platform.prompt(session.id, "say a", { dispatchId: "d1" });
      const again = await platform.prompt(session.id, "say a", { dispatchId: "d1" });
      expect(again.id).toBe(first.id);
      const other = await platform.request("POST", path, { content: "say b", dispatchId: "d1" });
      expect(other).toMatchObject({ status: 409, body: { error: { code: "dispatch_conflict" } } });
    });

    it("executes a POST with the same Idempotency-Key once", async () => {
      const key = { "idempotency-key": "k-1" };
      const create = (title: string) =>
        platform.request<{ session: Session }>(
          "POST",
          "/api/sessions",
          { title, runtime: "echo" },
          key,
        );
      const first = await create("once");
      const again = await create("once");
      expect(again.body.session.id).toBe(first.body.session.id);
      expect(await create("other")).toMatchObject({
        status: 409,
        body: { error: { code: "idempotency_conflict" } },
      });
    });

    it("runs followups in order, and keeps pending prompts out of the history", async () => {
      const session = await platform.createSession();
      const running = await platform.prompt(session.id, "say one\nsleep 300");
      await platform.promptIn(running.id, "running");
      const second = await platform.prompt(session.id, "say two");
      const third = await platform.prompt(session.id, "say three");
      const waiting = await queue(session.id);
      expect(waiting.map((prompt) => prompt.id)).toEqual([second.id, third.id]);
      expect(waiting[1]?.waitingFor).toMatchObject({ reason: "behind_other_prompts", ahead: 1 });
      const prompts = (await transcript(session.id)).filter((entry) => entry.kind === "prompt");
      expect(prompts).toHaveLength(1);
      await platform.promptIn(third.id, "settled");
      expect((await said(session.id)).map((entry) => entry.text)).toEqual(["one", "two", "three"]);
    });

    it("withdraws, edits and sends now a pending prompt", async () => {
      const session = await platform.createSession();
      const running = await platform.prompt(session.id, "say start\nhang");
      await platform.promptIn(running.id, "running");
      const [a, b, c] = [
        await platform.prompt(session.id, "say a"),
        await platform.prompt(session.id, "say b"),
        await platform.prompt(session.id, "say c"),
      ];
      const { prompts } = platform.api;
      const withdrawn = await prompts.withdraw({ id: a.id });
      expect(withdrawn.prompt).toMatchObject({ state: "settled", outcome: "withdrawn" });
      await prompts.update({ id: b.id, body: { content: "say better" } });
      await prompts.promote({ id: c.id });
      await platform.promptIn(b.id, "settled");
      const cut = await platform.promptIn(running.id, "settled");
      expect(cut).toMatchObject({ outcome: "superseded", supersededBy: c.id });
      expect((await said(session.id)).map((entry) => entry.text)).toEqual(["start", "c", "better"]);
      const late = await platform.request("DELETE", `/api/prompts/${c.id}`);
      expect(late).toMatchObject({ status: 409, body: { error: { code: "prompt_not_queued" } } });
    });

    it("steering cuts the turn and keeps its work; queued prompts stay queued", async () => {
      const session = await platform.createSession();
      const running = await platform.prompt(session.id, "say kept\nstream 500 20");
      await platform.promptIn(running.id, "running");
      await expect.poll(() => said(session.id)).toHaveLength(1);
      await new Promise((resolve) => setTimeout(resolve, 60));
      const queued = await platform.prompt(session.id, "say queued");
      const steer = await platform.prompt(session.id, "say steered", { mode: "steer" });
      await platform.promptIn(queued.id, "settled");
      const cut = await platform.promptIn(running.id, "settled");
      expect(cut).toMatchObject({ outcome: "superseded", supersededBy: steer.id });
      const entries = await said(session.id);
      expect(entries.map((entry) => entry.partial)).toEqual([false, true, false, false]);
      const texts = entries.map((entry) => entry.text?.slice(0, 7));
      expect(texts).toEqual(["kept", "token1 ", "steered", "queued"]);
    });

    it("collects prompts that arrive during a turn into one", async () => {
      const session = await platform.createSession({ queueMode: "collect" });
      const running = await platform.prompt(session.id, "say busy\nsleep 400");
      await platform.promptIn(running.id, "running");
      const a = await platform.prompt(session.id, "say a");
      const b = await platform.prompt(session.id, "say b");
      expect(a.state).toBe("collecting");
      const merged = await platform.promptIn(a.id, "settled");
      expect(merged.outcome).toBe("merged");
      expect((await platform.promptIn(b.id, "settled")).mergedInto).toBe(merged.mergedInto);
      const { prompt } = await platform.api.prompts.get({ id: merged.mergedInto ?? "" });
      expect(prompt.content).toBe(
        `[Follow-up messages from @${a.author.name}]:\n1. "say a"\n2. "say b"`,
      );
    });

    it("stops a turn, and continues with the next", async () => {
      const session = await platform.createSession();
      const running = await platform.prompt(session.id, "say before\nhang");
      await platform.promptIn(running.id, "running");
      const next = await platform.prompt(session.id, "say next");
      await platform.api.sessions.stop({ id: session.id });
      expect((await platform.promptIn(running.id, "settled")).outcome).toBe("aborted");
      expect((await platform.promptIn(next.id, "settled")).outcome).toBe("completed");
    });

    it("treats a second stop right after the first as the same one", async () => {
      const session = await platform.createSession();
      const running = await platform.prompt(session.id, "hang");
      await platform.promptIn(running.id, "running");
      const next = await platform.prompt(session.id, "sleep 300\nsay next");
      const stop = () => platform.api.sessions.stop({ id: session.id });
      expect((await stop()).stopped).toEqual([running.id]);
      await platform.promptIn(running.id, "settled");
      await platform.promptIn(next.id, "running");
      expect((await stop()).stopped).toEqual([]);
      expect((await platform.promptIn(next.id, "settled")).outcome).toBe("completed");
    });

    it("stops the named turn, and no other", async () => {
      const session = await platform.createSession();
      const first = await platform.prompt(session.id, "hang");
      await platform.promptIn(first.id, "running");
      const second = await platform.prompt(session.id, "hang");
      const third = await platform.prompt(session.id, "say third");
      const stop = (promptId: string) =>
        platform.request("POST", `/api/sessions/${session.id}/stop`, { promptId });
      expect(await stop(third.id)).toMatchObject({
        status: 409,
        body: { error: { code: "prompt_not_running" } },
      });
      const foreign = await platform.prompt((await platform.createSession()).id, "say elsewhere");
      expect((await stop(foreign.id)).status).toBe(404);
      expect((await stop(first.id)).body).toMatchObject({ stopped: [first.id] });
      await platform.promptIn(first.id, "settled");
      await platform.promptIn(second.id, "running");
      // The turn has ended: nothing is left to stop, and the next turn was not meant.
      expect(await stop(first.id)).toMatchObject({ status: 200, body: { stopped: [] } });
      expect((await platform.promptIn(second.id, "running")).outcome).toBeNull();
      // A named turn is stopped however soon after the first.
      expect((await stop(second.id)).body).toMatchObject({ stopped: [second.id] });
      expect((await platform.promptIn(second.id, "settled")).outcome).toBe("aborted");
      expect((await platform.promptIn(third.id, "settled")).outcome).toBe("completed");
    });

    it("reports a failure as the outcome, with its code", async () => {
      const session = await platform.createSession();
      const prompt = await platform.prompt(session.id, "fail out of luck");
      expect(await platform.promptIn(prompt.id, "settled")).toMatchObject({
        outcome: "failed",
        error: { code: "script_failed", message: "out of luck" },
      });
      expect(await sessionNow(session.id)).toMatchObject({ activity: "failed", status: "error" });
    });

    it("settles a turn whose runner reports text that cannot be stored", async () => {
      const session = await platform.createSession();
      const prompt = await platform.prompt(
        session.id,
        'tool a\u0001b {"x": "\\u0000"}\nsay \u0001',
      );
      const failing = await platform.prompt(session.id, "fail because");
      expect((await platform.promptIn(prompt.id, "settled")).outcome).not.toBeNull();
      expect((await platform.promptIn(failing.id, "settled")).outcome).toBe("failed");
    });

    it("starts a fresh context with /clear, in queue order, and keeps the history", async () => {
      const session = await platform.createSession();
      await platform.prompt(session.id, "say one");
      const prompt = await platform.prompt(session.id, "/clear");
      const cleared = await platform.promptIn(prompt.id, "settled");
      expect(cleared).toMatchObject({ outcome: "completed", attempts: 0 });
      const kinds = (await transcript(session.id)).map((entry) => entry.kind);
      expect(kinds).toEqual(["prompt", "text", "notice"]);
    });

    it("stores attachments, and serves them only as files", async () => {
      const session = await platform.createSession({ runtime: "echo" });
      const page = "<script>alert(1)</script>";
      const data = Buffer.from(page).toString("base64");
      const attachments = [{ name: "x.html", mediaType: "text/html", data }];
      const prompt = await platform.prompt(session.id, "look", { attachments });
      const path = `/api/prompts/${prompt.id}/attachments/${prompt.attachments[0]?.sha256}`;
      const response = await fetch(platform.url + path, {
        headers: { authorization: `Bearer ${platform.key}` },
      });
      expect(await response.text()).toBe(page);
      expect(response.headers.get("content-disposition")).toContain("attachment");
      expect(response.headers.get("content-security-policy")).toContain("sandbox");
    });

    it("refuses prompts beyond the queue limit", async () => {
      const session = await platform.createSession();
      const running = await platform.prompt(session.id, "hang");
      await platform.promptIn(running.id, "running");
      for (let i = 0; i < 100; i++) await platform.prompt(session.id, "say x");
      const path = `/api/sessions/${session.id}`;
      const refused = await platform.request("POST", `${path}/prompts`, { content: "say y" });
      expect(refused).toMatchObject({ status: 429, body: { error: { code: "queue_full" } } });
      expect(refused.headers.get("retry-after")).not.toBeNull();
      const busy = await platform.request("DELETE", path);
      expect(busy).toMatchObject({ status: 409, body: { error: { code: "session_busy" } } });
      const ended = await platform.api.sessions.delete({
        id: session.id,
        query: { force: "true" },
      });
      expect(ended.session).toMatchObject({ lifecycle: "archived", counts: { queued: 0 } });
      expect((await platform.promptIn(running.id, "settled")).outcome).toBe("aborted");
    });
  });
}

story("prompts on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a PostgreSQL server", () => {
  story("prompts on postgres", createTestDatabase);
});
