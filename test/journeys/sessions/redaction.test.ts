/** Redacting content of a session: the right to do it, and every place it is removed from. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asks, ended, type Turn } from "#features/testing/index.ts";
import { apiKey, bearer, type HandRunner, handRunner } from "#test/clients/mcp.ts";
import { type Browser, join, orgOf } from "#test/clients/people.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";

const CANARY = "zanzibarcanary";

function story(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let platform: Platform;
    let made: TestDatabase | undefined;
    let runner: HandRunner;
    let ann: Browser;
    let ben: Browser;

    beforeAll(async () => {
      made = await database();
      platform = await startPlatform({
        runner: false,
        env: { MUSTER_RUNTIME: "native", ...(made ? { MUSTER_DATABASE_URL: made.url } : {}) },
      });
      runner = await handRunner(platform);
      ann = await join(platform, "Ann");
      ben = await join(platform, "Ben");
    });
    afterAll(async () => {
      runner.close();
      await platform.stop();
      await made?.drop();
    });

    const say = async (id: string, content: string): Promise<Turn> => {
      await ann.api.prompts.create({ id, body: { content } });
      return runner.nextTurn(id);
    };
    /** A session of Ann's with the word in a prompt, a text, a call and its result. */
    const session = async () => {
      const { id } = (await ann.api.sessions.create()).session;
      const turn = await say(id, `The word is ${CANARY}.`);
      await turn.journal([
        {
          type: "message",
          entryId: `ent_text${id.slice(4)}`,
          kind: "text",
          text: `I heard ${CANARY}.`,
        },
        asks(`call_${id}`, "bash", { command: `echo ${CANARY}` }),
      ]);
      const result = ended(`call_${id}`, "bash", { output: CANARY });
      await turn.journal([{ ...result, input: { command: `echo ${CANARY}` } } as never]);
      await turn.journal([
        {
          type: "message",
          entryId: `ent_last${id.slice(4)}`,
          kind: "text",
          text: `It is ${CANARY}.`,
        },
      ]);
      await turn.end(`It is ${CANARY}.`);
      return id;
    };
    const transcript = async (id: string) => (await ann.api.sessions.transcript({ id })).items;
    const redact = (
      who: Pick<Browser, "request">,
      id: string,
      entryId: string,
      headers: Record<string, string> = {},
    ) =>
      who.request<{ redacted: string[]; error?: { code: string } }>(
        "POST",
        `/api/sessions/${id}/entries/${entryId}/redact`,
        {},
        headers,
      );
    const redactPrompt = (
      who: Pick<Browser, "request">,
      promptId: string,
      headers: Record<string, string> = {},
    ) =>
      who.request<{ redacted: string[]; error?: { code: string } }>(
        "POST",
        `/api/prompts/${promptId}/redact`,
        {},
        headers,
      );
    const found = async () => (await ann.api.search.find({ query: { q: CANARY } })).items.length;
    const trail = async (session: string) =>
      (await platform.api.audit.list({ query: { session, action: "entry_redacted" } })).items;
    const rowsWith = async (id: string, table: string, columns: readonly string[]) => {
      const key = table === "sessions" ? "id" : "session_id";
      const like = columns.map((column) => `${column} like '%${CANARY}%'`).join(" or ");
      const sql = `select count(*) as n from ${table} where ${key} = '${id}' and (${like})`;
      const { store } = platform.server.kernel.engine;
      const rows = await store.read((reader) =>
        reader.query<{ n: number }>({ sql, parameters: [] }),
      );
      return Number(rows[0]?.n);
    };

    it("leaves nothing of an entry in the log, the search index and the agent's context", async () => {
      const id = await session();
      await expect.poll(found).toBeGreaterThan(0);
      for (const entry of await transcript(id))
        expect((await redact(ann, id, entry.id)).status).toBe(200);
      const entries = await transcript(id);
      expect(JSON.stringify(entries)).not.toContain(CANARY);
      expect(entries.filter(({ text }) => text === "[removed]").length).toBeGreaterThan(3);
      const prompts = await ann.api.prompts.list({ id });
      expect(JSON.stringify(prompts)).not.toContain(CANARY);
      const all = ["content", "tool_input", "tool_output", "error", "data"];
      expect(await rowsWith(id, "events", all)).toBe(0);
      expect(await rowsWith(id, "prompts", ["content", "attachments"])).toBe(0);
      expect(await rowsWith(id, "runs", ["result"])).toBe(0);
      expect(await rowsWith(id, "tool_results", ["result"])).toBe(0);
      await expect.poll(found).toBe(0);
      const next = await say(id, "And now?");
      const given = JSON.stringify([next.assignment, await next.history()]);
      expect(given).toContain("[removed]");
      expect(given).not.toContain(CANARY);
      await next.end("Nothing.");
      const rows = await trail(id);
      expect(rows.length).toBeGreaterThan(2);
      expect(rows[0]).toMatchObject({
        severity: "warning",
        category: "session",
        metadata: { by: ann.userId, entryId: expect.stringMatching(/^ent_/) },
      });
      expect(JSON.stringify(rows)).not.toContain(CANARY);
    });

    it("removes a call and its result together, once", async () => {
      const id = await session();
      const call = (await transcript(id)).find(({ kind }) => kind === "tool_call");
      const { body } = await redact(ann, id, call?.id ?? "");
      expect(body.redacted).toHaveLength(2);
      expect(await redact(ann, id, call?.id ?? "")).toMatchObject({ status: 200, body });
      expect(await trail(id)).toHaveLength(1);
      // Other entries stay.
      expect(JSON.stringify(await transcript(id))).toContain(`I heard ${CANARY}.`);
    });

    it("is allowed to its person and to signed-in admins, and to nobody else", async () => {
      const id = await session();
      const entryId = `ent_text${id.slice(4)}`;
      expect((await redact(ben, id, entryId)).status).toBe(404);
      const { key } = await ann.api.me.createApiKey({
        body: { name: "all", scopes: ["sessions:read", "sessions:write"] },
      });
      const narrow = await redact(platform, id, entryId, bearer(key));
      expect(narrow).toMatchObject({ status: 403, body: { error: { code: "sign_in_needed" } } });
      const mail = await apiKey(platform, ["mail"]);
      expect((await redact(platform, id, entryId, bearer(mail))).status).toBe(404);
      expect((await redact(ann, id, "ent_none")).status).toBe(404);
      // An admin removes it without having read it; its person sees who did.
      expect((await redact(platform, id, entryId)).status).toBe(200);
      const { ownerId } = await orgOf(platform);
      expect(await trail(id)).toMatchObject([{ metadata: { by: ownerId } }]);
      expect((await transcript(id)).find((entry) => entry.id === entryId)?.text).toBe("[removed]");
    });

    it("refuses a call with a pending approval", async () => {
      const id = await session();
      const call = (await transcript(id)).find(({ kind }) => kind === "tool_call");
      const { orgId } = await orgOf(platform);
      const sql = `insert into gates (id, org_id, session_id, thread, prompt_id, run_id, call_id, kind, tool, shown, state, asked_at, expires_at, deferred)
        values ('apr_${id.slice(4)}', '${orgId}', '${id}', 'main', '${call?.promptId}', 'run_none', 'call_${id}', 'approval', 'bash', '{"input":{}}', 'pending', 1, 9999999999999, 1)`;
      await platform.server.kernel.engine.store.transaction((tx) =>
        tx.execute({ sql, parameters: [] }),
      );
      const asked = await redact(ann, id, call?.id ?? "");
      expect(asked).toMatchObject({ status: 409, body: { error: { code: "session_busy" } } });
      expect(JSON.stringify(await transcript(id))).toContain(`echo ${CANARY}`);
    });

    it("removes the typed answer with the question that it answered", async () => {
      const id = await session();
      const turn = await say(id, "ask me");
      const callId = `ask_${id}`;
      await turn.journal(
        [asks(callId, "ask_user_question", { questions: [{ question: "Which word?" }] })],
        { park: { kind: "gate", callId } },
      );
      const typed = await ann.api.prompts.create({ id, body: { content: `${CANARY} it is` } });
      expect(typed.prompt).toMatchObject({ outcome: "merged" });
      const next = await runner.nextTurn(id);
      const result = ended(callId, "ask_user_question", { output: `${CANARY} it is` });
      await next.journal([result]);
      await next.end("done");
      const call = (await transcript(id)).find(({ tool }) => tool?.callId === callId);
      // The words are in the turn, so the call is redacted.
      expect(await redactPrompt(ann, typed.prompt.id)).toMatchObject({
        status: 409,
        body: { error: { code: "prompt_in_transcript" } },
      });
      expect((await redact(ann, id, call?.id ?? "")).status).toBe(200);
      const { prompt } = await ann.api.prompts.get({ id: typed.prompt.id });
      expect(prompt.content).toBe("[removed]");
      // The prompt that asked keeps its words.
      expect(await rowsWith(id, "prompts", ["content"])).toBe(1);
      const kept = await ann.api.prompts.list({ id, query: { state: "settled" } });
      expect(JSON.stringify(kept)).toContain("ask me");
    });

    it("removes a prompt that was withdrawn or aborted before its turn", async () => {
      const { id } = (await ann.api.sessions.create()).session;
      const turn = await say(id, "work");
      const queue = async (content: string) =>
        (await ann.api.prompts.create({ id, body: { content, mode: "followup" } })).prompt.id;
      const slip = await queue(`password ${CANARY}`);
      const other = await queue(`also ${CANARY}`);
      expect(await redactPrompt(ann, slip)).toMatchObject({
        status: 409,
        body: { error: { code: "prompt_not_settled" } },
      });
      await ann.api.prompts.withdraw({ id: slip });
      expect((await redactPrompt(ben, slip)).status).toBe(404);
      const { key } = await ann.api.me.createApiKey({
        body: { name: "slip", scopes: ["sessions:read", "sessions:write"] },
      });
      expect(await redactPrompt(platform, slip, bearer(key))).toMatchObject({
        status: 403,
        body: { error: { code: "sign_in_needed" } },
      });
      // Its turn never began, so the running turn has not seen it.
      const removed = { status: 200, body: { redacted: [slip] } };
      expect(await redactPrompt(ann, slip)).toMatchObject(removed);
      expect(await redactPrompt(ann, slip)).toMatchObject(removed);
      expect(await trail(id)).toMatchObject([{ metadata: { by: ann.userId, entryId: slip } }]);
      const receipt = await ann.api.prompts.get({ id: slip });
      expect(receipt.prompt).toMatchObject({ content: "[removed]", outcome: "withdrawn" });
      // An admin redacts a prompt that ended with its session, without having read it.
      await ann.api.sessions.terminate({ id });
      await turn.end("stopped").catch(() => {});
      expect((await redactPrompt(platform, other)).status).toBe(200);
      expect(await rowsWith(id, "prompts", ["content"])).toBe(0);
      expect((await ann.request("POST", `/api/prompts/${other}/retry`, {})).status).toBe(409);
      expect((await redactPrompt(ann, turn.assignment.promptId)).body.error?.code).toBe(
        "prompt_in_transcript",
      );
    });

    it("removes a message that the agent sent with the call, and no other", async () => {
      const id = await session();
      const turn = await say(id, "write to me");
      const to = { to: ann.userId };
      const sent = await turn.tool("mailbox_send", { ...to, content: `The word is ${CANARY}` });
      expect(sent.error).toBeNull();
      await turn.tool("emit_notification", { ...to, content: "Something harmless" });
      await turn.end("done");
      const messages = async () => {
        const { body } = await ann.request<{ items: { from: { id: string } }[] }>(
          "GET",
          "/api/me/inbox",
        );
        return JSON.stringify(body.items.filter(({ from }) => from.id === id));
      };
      expect(await messages()).toContain(CANARY);
      const call = (await transcript(id)).find(({ tool }) => tool?.name === "mailbox_send");
      expect((await redact(ann, id, call?.id ?? "")).status).toBe(200);
      const left = await messages();
      expect(left).not.toContain(CANARY);
      expect(left).toContain("[removed]");
      expect(left).toContain("Something harmless");
    });

    it("waits for the turn that has it in context, and keeps the record of who read the session", async () => {
      const id = await session();
      const turn = await say(id, "again");
      const busy = await redact(ann, id, `ent_text${id.slice(4)}`);
      expect(busy).toMatchObject({ status: 409, body: { error: { code: "session_busy" } } });
      await turn.end("done");
      expect((await redact(ann, id, `ent_text${id.slice(4)}`)).status).toBe(200);
      const { orgId } = await orgOf(platform);
      await platform.api.orgs.openSession({
        orgId,
        sessionId: id,
        body: { reason: "to look into it" },
      });
      const notice = (await transcript(id)).find(({ kind }) => kind === "notice");
      const kept = await redact(platform, id, notice?.id ?? "");
      expect(kept).toMatchObject({
        status: 409,
        body: { error: { code: "entry_not_redactable" } },
      });
    });
  });
}

story("redaction on sqlite", async () => undefined);
describe.runIf(postgresUrl)("with a PostgreSQL server", () => {
  story("redaction on postgres", createTestDatabase);
});
