/** A member's machine that sends forbidden frames over its socket, on each database. */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Assignment } from "#protocol/frames.ts";
import type { Prompt, Session } from "#protocol/sessions.ts";
import { type Browser, closeCode, join, openSocket } from "#test/clients/people.ts";
import { connectRunner, type RawRunner } from "#test/clients/raw-runner.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";

const SECRET = Buffer.from("the salaries of everybody");
const HASH = createHash("sha256").update(SECRET).digest("hex");

function story(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let platform: Platform;
    let made: TestDatabase | undefined;
    let ann: Browser;
    let ben: Browser;
    let token: string;
    let runner: RawRunner;
    beforeAll(async () => {
      made = await database();
      platform = await startPlatform({
        runner: false,
        env: made ? { MUSTER_DATABASE_URL: made.url } : {},
      });
      ann = await join(platform, "Ann");
      ben = await join(platform, "Ben");
      const { body } = await ann.request<{ token: string }>("POST", "/api/runners/tokens", {
        name: "own",
      });
      token = body.token;
      runner = await connectRunner(platform, token);
    });
    afterAll(async () => {
      runner.socket.terminate();
      await platform.stop();
      await made?.drop();
    });

    const begin = async (fields: object = {}) => {
      const { body } = await ann.request<{ session: Session }>("POST", "/api/sessions", {
        runtime: "native",
        model: "lab/small",
        prompt: "go",
        ...fields,
      });
      return { id: body.session.id, turn: await runner.assigned() };
    };
    const journal = ({ run, fence }: Assignment, firstOrdinal: number, ...items: object[]) =>
      runner.ask({ op: "journal", run, fence, firstOrdinal, items });
    const settle = ({ run, fence }: Assignment, firstOrdinal: number) =>
      runner.ask({
        op: "journal",
        run,
        fence,
        firstOrdinal,
        items: [],
        settle: { outcome: "completed" },
      });
    const call = (fields: object) => ({
      type: "model_call",
      entryId: "e",
      model: "lab/small",
      inputTokens: 1,
      cachedInputTokens: 0,
      outputTokens: 1,
      reasoningTokens: 0,
      costMicros: 10,
      priceId: null,
      durationMs: 1,
      stopReason: "end",
      ...fields,
    });
    const costOf = async (id: string) => {
      const { body } = await ann.request<{ total: { costMicros: number } }>(
        "GET",
        `/api/usage?session=${id}`,
      );
      return body.total.costMicros;
    };

    it("cannot count backwards, and its other turns go on", async () => {
      const { id, turn } = await begin({ budget: 1_000 });
      const { turn: other } = await begin();
      expect(await journal(turn, 1, call({ costMicros: 10 }))).toMatchObject({ op: "journaled" });
      for (const fields of [
        { costMicros: -1_000_000 },
        { costMicros: 1.5 },
        { costMicros: 1e15 },
        { inputTokens: -1 },
        { outputTokens: 1e300 },
        { durationMs: -5 },
      ])
        expect(await journal(turn, 2, call(fields))).toMatchObject({
          op: "refused",
          code: "frame_invalid",
        });
      expect(await costOf(id)).toBe(10);
      // A frame that cannot be answered is dropped alone.
      const { run, fence } = turn;
      runner.send({ op: "delta", run, fence, entryId: "e", kind: "text", offset: -1, text: "x" });
      expect(await settle(other, 1)).toMatchObject({ op: "journaled" });
      expect(await settle(turn, 2)).toMatchObject({ op: "journaled" });
    });

    it("reads no one else's bytes by their hash, however it asks", async () => {
      const theirs = await ben.request<{ session: Session }>("POST", "/api/sessions", {});
      await ben.request<{ prompt: Prompt }>(
        "POST",
        `/api/sessions/${theirs.body.session.id}/prompts`,
        {
          content: "keep this",
          attachments: [
            { name: "s.txt", mediaType: "text/plain", data: SECRET.toString("base64") },
          ],
        },
      );
      const { id, turn } = await begin();
      const { run, fence } = turn;
      const missing = await runner.ask({ op: "fetch_blob", run, fence, sha256: "0".repeat(64) });
      const another = await runner.ask({ op: "fetch_blob", run, fence, sha256: HASH });
      expect(another).toMatchObject({ op: "blob", data: null });
      expect({ ...another, id: "", sha256: "" }).toEqual({ ...missing, id: "", sha256: "" });
      // A workspace file that claims to have this content.
      const bind = {
        executorSessionId: null,
        executorType: "native",
        executorProfile: null,
        projectDir: null,
        workspaceId: "wsp_own",
      };
      const none = { files: [], more: 0, additions: 0, deletions: 0 };
      const changed = {
        type: "workspace_changed",
        entryId: "w",
        turn: none,
        all: none,
        files: [{ path: "s.txt", sha256: HASH, mediaType: "text/plain", size: 5 }],
        diskBytes: 5,
      };
      const items = [changed];
      expect(
        await runner.ask({ op: "journal", run, fence, firstOrdinal: 1, items, bind }),
      ).toMatchObject({ op: "journaled" });
      const preview = await ann.request<{ frameUrl: string }>(
        "POST",
        `/api/sessions/${id}/previews`,
        { path: "s.txt" },
      );
      const shown = await fetch(`${platform.url}${preview.body.frameUrl}`);
      expect(shown.status).toBe(404);
      expect(await shown.text()).not.toContain("salaries");
      // A runner that has the bytes may store them, and learns nothing about others who have them
      // too.
      const data = SECRET.toString("base64");
      const kept = await runner.ask({ op: "blob", run, fence, mediaType: "a/b", data });
      expect(kept).toMatchObject({ op: "blob", sha256: HASH });
      expect(await runner.ask({ op: "fetch_blob", run, fence, sha256: HASH })).toMatchObject({
        mediaType: "a/b",
        data,
      });
      await settle(turn, 2);
    });

    it("cannot store more about its sandbox than the schema has room for", async () => {
      const enforced = Object.fromEntries(
        Array.from({ length: 1000 }, (_none, at) => [`limit_${at}`, "x".repeat(1000)]),
      );
      const report = { kind: "local", why: null, fix: null };
      for (const bad of [enforced, { memory: "x".repeat(3_000_000) }])
        expect(
          await runner.ask({ op: "sandbox", sandbox: { ...report, enforced: bad } }),
        ).toMatchObject({ op: "refused", code: "frame_invalid" });
    });

    it.each([
      ["nested", `{"op":"renew","id":"1","runs":${"[".repeat(100_000)}`],
      ["nested within a frame that is right but for that", deepTool()],
      ["full of small things", `{"op":"tool","id":"1","input":[${"[],".repeat(2_000_000)}0]}`],
      ["too large", `"${"x".repeat(28_000_000)}"`],
    ])("is cut off for a frame that is %s, and nobody else is", async (_what, text) => {
      const { body } = await ann.request<{ token: string }>("POST", "/api/runners/tokens", {
        name: "bad",
      });
      const headers = { authorization: `Bearer ${body.token}` };
      const socket = await openSocket(platform, "/api/runners/connect", headers);
      socket.on("error", () => {});
      const closed = closeCode(socket);
      socket.send(text);
      expect(await closed).toBe(1009);
      const { turn } = await begin();
      expect(await settle(turn, 1)).toMatchObject({ op: "journaled" });
    });

    it("is refused nested or overfull bodies over HTTP too", async () => {
      const post = (body: string, path = "/api/sessions") =>
        ann.request<{ error: { code: string } }>("POST", path, JSON.parse(body));
      const deep = `${"[".repeat(80)}${"]".repeat(80)}`;
      expect((await post(`{"title":${deep}}`)).body.error.code).toBe("json_too_deep");
      const full = await post(`{"title":[${"0,".repeat(300_000)}0]}`);
      expect([full.status, full.body.error.code]).toEqual([413, "json_too_many_values"]);
    });
  });
}

function deepTool(): string {
  const deep = `${"[".repeat(200)}${"]".repeat(200)}`;
  return `{"op":"tool","id":"1","run":"run_1","fence":1,"callId":"c","name":"n","input":${deep}}`;
}

story("a hostile runner on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a PostgreSQL server", () => {
  story("a hostile runner on postgres", createTestDatabase);
});
