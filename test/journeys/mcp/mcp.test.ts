/**
 * Tools over MCP with the protocol's own client: an agent's by its run token, a person's by a key.
 */
import { deflateRawSync } from "node:zlib";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Prompt } from "#protocol/sessions.ts";
import {
  apiKey,
  bearer,
  calling,
  callTool,
  connect,
  type HandRunner,
  handRunner,
  listing,
  post,
  turnOf,
} from "#test/clients/mcp.ts";
import { orgOf } from "#test/clients/people.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";

const READ_WRITE = ["sessions:read", "sessions:write"] as const;

function story(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let platform: Platform;
    let made: TestDatabase | undefined;
    let runner: HandRunner;
    let clients: Client[] = [];

    beforeAll(async () => {
      made = await database();
      platform = await startPlatform({
        runner: false,
        env: { MUSTER_RUNTIME: "native", ...(made ? { MUSTER_DATABASE_URL: made.url } : {}) },
      });
      runner = await handRunner(platform);
    });
    afterAll(async () => {
      for (const client of clients) await client.close();
      runner.close();
      await platform.stop();
      await made?.drop();
    });

    async function clientOf(secret: string): Promise<Client> {
      const client = await connect(platform, secret);
      clients = [...clients, client];
      return client;
    }

    describe("an agent with its run token", () => {
      it("has the tools of its role, and no others by any alias", async () => {
        const parent = await turnOf(platform, runner, { isSupervisor: true });
        const child = await turnOf(platform, runner, { parentSessionId: parent.sessionId });
        const client = await clientOf(child.token);
        const { tools } = await client.listTools();
        const names = tools.map((tool) => tool.name);
        expect(names).toContain("notify_parent");
        expect(names).toContain("complete_session");
        for (const absent of ["spawn_session", "bash", "write", "ask_orchestrator"])
          expect(names).not.toContain(absent);
        for (const { inputSchema } of tools) expect(inputSchema.type).toBe("object");
        const spawned = await callTool(client, "spawn_session", { title: "x", prompt: "y" });
        expect(spawned).toMatchObject({ isError: true });
        expect(spawned.text).toContain("There is no tool named spawn_session");
        await child.turn.end("done");
        await parent.turn.end("done");
      });

      it("calls them as its session, and ends its turn when told to", async () => {
        const { sessionId, turn, token } = await turnOf(platform, runner);
        const client = await clientOf(token);
        const answer = await callTool(client, "complete_session", { summary: "All counted." });
        expect(answer).toMatchObject({ isError: false });
        expect(answer.text).toContain("End it now");
        await turn.end("done");
        const lifecycle = async () => {
          const path = `/api/sessions/${sessionId}`;
          const { body } = await platform.request<{ session: { lifecycle: string } }>("GET", path);
          return body.session.lifecycle;
        };
        await expect.poll(lifecycle).toBe("archived");
      });

      it("is told the error in a call, so that the model can correct it", async () => {
        const { turn, token } = await turnOf(platform, runner);
        const client = await clientOf(token);
        const answer = await callTool(client, "complete_session", { summery: "typo" });
        expect(answer).toMatchObject({ isError: true });
        expect(answer.text).toMatch(/does not fit complete_session[\s\S]*summary/);
        await turn.end("done");
      });

      it("performs a repeated delivery once, and a repeated call twice", async () => {
        const parent = await turnOf(platform, runner, { isSupervisor: true });
        const child = await turnOf(platform, runner, { parentSessionId: parent.sessionId });
        // Pending notices are merged into one prompt.
        const told = async () => {
          const path = `/api/sessions/${parent.sessionId}/prompts`;
          const { body } = await platform.request<{ items: Prompt[] }>("GET", path);
          return body.items.flatMap(({ content }) => content.match(/found it/g) ?? []).length;
        };
        const call = calling("notify_parent", { message: "found it" }, 7);
        const headers = { ...bearer(child.token), "mcp-session-id": "client-1" };
        const answers = [await post(platform, call, headers), await post(platform, call, headers)];
        expect(answers.map(({ body }) => body.result.content[0].text)).toEqual(
          Array(2).fill("Your parent will read it. Continue with your task."),
        );
        expect(await told()).toBe(1);
        await post(platform, { ...call, id: 8 }, headers);
        await post(platform, call, { ...headers, "mcp-session-id": "client-2" });
        expect(await told()).toBe(3);
        await child.turn.end("done");
        await platform.request("POST", `/api/sessions/${parent.sessionId}/terminate`, {});
      });

      it("is refused once its attempt has ended", async () => {
        const { turn, token } = await turnOf(platform, runner);
        expect((await post(platform, listing(), bearer(token))).status).toBe(200);
        await turn.end("done");
        const refused = await post(platform, listing(), bearer(token));
        expect(refused.status).toBe(401);
        expect(refused.headers.get("www-authenticate")).toMatch(/^Bearer/);
      });

      it("never gets another caller's answer, however many ask at once", async () => {
        const turns: Awaited<ReturnType<typeof turnOf>>[] = [];
        for (let n = 0; n < 20; n++) turns.push(await turnOf(platform, runner, { title: `t${n}` }));
        // All clients use the same request ids, and half of them the same client name. One person may
        // have 128 calls open at once.
        const asked = Array.from({ length: 120 }, async (_, n) => {
          const { token, sessionId } = turns[n % 20] as (typeof turns)[0];
          // The refusal repeats the wrong argument, which shows whose call it was.
          const call = calling("complete_session", { summary: "s", [sessionId]: n }, n % 3);
          const headers = { ...bearer(token), ...(n % 2 ? { "mcp-session-id": "same" } : {}) };
          return { sessionId, answer: await post(platform, call, headers), id: n % 3 };
        });
        for (const { answer, id, sessionId } of await Promise.all(asked)) {
          expect(answer.status).toBe(200);
          expect(answer.body.id).toBe(id);
          expect(answer.body.result.content[0].text).toContain(`"${sessionId}"`);
        }
        for (const { turn } of turns) await turn.end("done");
      });
    });

    describe("a person with an API key", () => {
      let orchestratorId: string;
      let client: Client;

      beforeAll(async () => {
        const { ownerId } = await orgOf(platform);
        orchestratorId = `orchestrator:${ownerId}`;
        client = await clientOf(await apiKey(platform, READ_WRITE));
      });

      it("has tools by the scopes of the key", async () => {
        const { tools } = await client.listTools();
        expect(tools.map((tool) => tool.name).sort()).toEqual([
          "ask_orchestrator",
          "get_session_status",
          "list_approvals",
          "list_sessions",
          "prompt_session",
          "read_session",
          "stop_session",
          "wait_for_answer",
        ]);
        const reading = await clientOf(await apiKey(platform, ["sessions:read"]));
        const names = (await reading.listTools()).tools.map((tool) => tool.name);
        expect(names).not.toContain("ask_orchestrator");
        expect(names).not.toContain("prompt_session");
        expect(names).not.toContain("stop_session");
        expect(names).toContain("read_session");
        const { id } = await platform.createSession({ runtime: "native" });
        expect(await callTool(reading, "stop_session", { sessionId: id })).toMatchObject({
          isError: true,
        });
        const none = await clientOf(await apiKey(platform, ["memory"]));
        expect((await none.listTools()).tools).toEqual([]);
      });

      it("prompts the orchestrator, gets progress, and gets the answer", async () => {
        const heard: string[] = [];
        const asked = client.callTool(
          { name: "ask_orchestrator", arguments: { message: "How many files?" } },
          CallToolResultSchema,
          { onprogress: ({ message }) => void heard.push(message ?? "") },
        );
        const turn = await runner.nextTurn(orchestratorId);
        expect(turn.assignment).toMatchObject({
          sessionId: orchestratorId,
          content: "How many files?",
        });
        const itself = await clientOf(turn.assignment.token);
        const names = (await itself.listTools()).tools.map((tool) => tool.name);
        expect(names).toContain("spawn_session");
        expect(names).not.toContain("complete_session");
        await turn.journal([
          { type: "pre_tool", entryId: "ent_mcp", callId: "c1", tool: "glob", input: {} },
        ]);
        await turn.end("There are 7.");
        const answer = await asked;
        expect(answer.structuredContent).toMatchObject({
          outcome: "completed",
          answer: "There are 7.",
        });
        expect(heard).toEqual(["has started", "uses glob"]);
      });

      it("sees the questions of its agents with the choices, and cannot answer them", async () => {
        const { turn, sessionId } = await turnOf(platform, runner);
        const options = [{ label: "Red" }, { label: "Blue" }];
        const input = { questions: [{ question: "Which colour?", options }] };
        const call = { entryId: "ent_q", callId: "q1", tool: "ask_user_question", input };
        await turn.journal([{ type: "pre_tool", ...call }], {
          park: { kind: "gate", callId: "q1" },
        });
        const { data } = await callTool(client, "list_approvals", { sessionId });
        expect(data.approvals).toMatchObject([
          { kind: "question", asks: "Which colour?\n- Red\n- Blue" },
        ]);
        const sent = await callTool(client, "prompt_session", { sessionId, content: "Blue" });
        expect(sent.data).toMatchObject({ state: "queued" });
        await callTool(client, "stop_session", { sessionId });
      });

      it("resumes a lost stream by the id of its priming event, and does nothing twice", async () => {
        const secret = await apiKey(platform, READ_WRITE);
        const { id: sessionId } = await platform.createSession({ runtime: "native" });
        const headers = {
          ...bearer(secret),
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": "2025-11-25",
          "mcp-session-id": "resuming",
        };
        const send = async (body: unknown, more: Record<string, string> = {}) => {
          const init = { method: "POST", headers: { ...headers, ...more } };
          const answer = await fetch(`${platform.url}/mcp`, {
            ...init,
            body: JSON.stringify(body),
          });
          return answer.text();
        };
        const resume = (lastEventId: string, sent: Record<string, string> = headers) =>
          fetch(`${platform.url}/mcp`, {
            headers: { ...sent, "last-event-id": lastEventId },
          });
        const call = calling("prompt_session", { sessionId, content: "once" }, 7);
        const first = await send(call);
        const [, id = ""] = /^id: (\S+)\nretry: 1000\ndata: \n\n/.exec(first) ?? [];
        expect(id).toMatch(/^m1\./);
        const resumed = await (await resume(id)).text();
        const promptOf = (text: string) => /pmt_\w+/.exec(text)?.[0];
        expect(promptOf(resumed)).toMatch(/^pmt_/);
        expect(promptOf(resumed)).toBe(promptOf(first));
        const path = `/api/sessions/${sessionId}/prompts`;
        const { body } = await platform.request<{ items: Prompt[] }>("GET", path);
        expect(body.items).toHaveLength(1);
        // A call that would be made twice is not resumed, nor is an invented id.
        const stopped = await send(calling("stop_session", { sessionId }, 8));
        expect(stopped).toMatch(/^id: once\nretry: 1000\ndata: \n\n/);
        const bomb = `m1.${deflateRawSync(Buffer.alloc(50_000_000)).toString("base64url")}`;
        for (const lost of ["once", "m1.AAAA", "made up", bomb.slice(0, 5_000)])
          expect((await resume(lost)).status).toBe(409);
        // A repeated call is recognised by the client's name, and only calls have streams.
        const nameless = { ...headers, "mcp-session-id": "" };
        const packed = (message: unknown) =>
          `m1.${deflateRawSync(JSON.stringify(message)).toString("base64url")}`;
        const listing = { jsonrpc: "2.0", id: 9, method: "tools/list" };
        const stopping = calling("stop_session", { sessionId }, 10);
        const batch = [calling("prompt_session", { sessionId, content: "twice" }, 11)];
        const unversioned: Record<string, string> = {
          ...headers,
          "mcp-protocol-version": "2025-03-26",
        };
        for (const [lost, sent] of [
          [id, nameless],
          [id, { ...headers, "mcp-session-id": "two words" }],
          [packed(stopping), headers],
          [packed(listing), headers],
          [packed(batch), unversioned],
        ] as const) {
          const answer = await resume(lost, sent);
          expect(answer.status).toBe(409);
          expect(await answer.json()).toMatchObject({
            error: {
              data: { code: "not_resumable" },
              message: expect.stringContaining("Check the result of the call"),
            },
          });
        }
        expect((await platform.request<{ items: Prompt[] }>("GET", path)).body.items).toHaveLength(
          1,
        );
        // Clients of earlier versions take every event for a message.
        const old = await send(call, { "mcp-protocol-version": "2025-06-18" });
        expect(old).not.toMatch(/^id:/);
      });

      it("keeps waiting while the orchestrator waits for its children, and returns the final answer", async () => {
        const heard: string[] = [];
        const asked = client.callTool(
          { name: "ask_orchestrator", arguments: { message: "Let somebody count." } },
          CallToolResultSchema,
          { onprogress: ({ message }) => void heard.push(message ?? "") },
        );
        const turn = await runner.nextTurn(orchestratorId);
        const { output } = await turn.tool("spawn_session", { title: "Helper", prompt: "Count." });
        const { sessionId: childId } = output as { sessionId: string };
        const child = await runner.nextTurn(childId);
        expect(await turn.tool("wait_for_event", {})).toMatchObject({ endsTurn: true });
        await turn.end("I asked somebody.");
        await expect.poll(() => heard).toContain("waiting for 1 child: Helper");
        const { promptId } = turn.assignment;
        const late = await callTool(client, "wait_for_answer", { promptId, timeoutSeconds: 1 });
        expect(late.data).toMatchObject({
          promptId,
          waitingFor: "children",
          said: "I asked somebody.",
          children: [{ sessionId: childId, title: "Helper", activity: "working" }],
        });
        expect(late.data.next).toContain("wait_for_answer");
        await child.end("There are 7.");
        const woken = await runner.nextTurn(orchestratorId);
        expect(woken.assignment.content).toContain("There are 7.");
        const working = await callTool(client, "wait_for_answer", { promptId, timeoutSeconds: 1 });
        expect(working.data).toMatchObject({ promptId, waitingFor: "children" });
        await woken.end("Somebody counted 7.");
        const answer = { promptId, outcome: "completed", answer: "Somebody counted 7." };
        expect((await asked).structuredContent).toMatchObject(answer);
        // A later caller gets the same answer.
        expect((await callTool(client, "wait_for_answer", { promptId })).data).toMatchObject(
          answer,
        );
      });

      it("returns the answer when the orchestrator waits and no child is at work", async () => {
        const asked = callTool(client, "ask_orchestrator", { message: "Anything new?" });
        const turn = await runner.nextTurn(orchestratorId);
        expect(await turn.tool("wait_for_event", {})).toMatchObject({ endsTurn: true });
        await turn.end("Nothing more comes.");
        expect((await asked).data).toMatchObject({
          outcome: "completed",
          answer: "Nothing more comes.",
        });
      });

      it("has the forwarded text in the answer, and says how and as whom a session ended", async () => {
        const asked = callTool(client, "ask_orchestrator", { message: "Have it counted." });
        const turn = await runner.nextTurn(orchestratorId);
        const { output } = await turn.tool("spawn_session", { title: "Helper", prompt: "Count." });
        const { sessionId } = output as { sessionId: string };
        const child = await runner.nextTurn(sessionId);
        await child.tool("complete_session", { summary: "There are 7." });
        await child.end("");
        await turn.tool("forward_messages", { sessionId });
        await turn.end("That is the answer.");
        expect((await asked).data).toMatchObject({
          answer: "Helper:\n\nThere are 7.\n\nThat is the answer.",
        });
        await (await runner.nextTurn(orchestratorId)).end("");
        const status = await callTool(client, "get_session_status", { sessionId });
        expect(status.data).toMatchObject({ status: "finished", lastError: null });
        expect(status.data).toHaveProperty("persona");
        expect(status.data).toHaveProperty("personaVersion");
        const read = await callTool(client, "read_session", { sessionId });
        expect(JSON.stringify(read.data)).toContain("There are 7.");
      });

      it('finds its orchestrator by the word "orchestrator"', async () => {
        const status = await callTool(client, "get_session_status", { sessionId: "orchestrator" });
        expect(status.data).toMatchObject({ sessionId: orchestratorId });
        const read = await callTool(client, "read_session", {
          sessionId: "orchestrator",
          limit: 1,
        });
        expect(read.data).toMatchObject({ sessionId: orchestratorId });
        expect((await callTool(client, "list_sessions", { parent: "orchestrator" })).isError).toBe(
          false,
        );
      });

      it("cancelling stops the wait and not the turn", async () => {
        const stop = new AbortController();
        const asked = client.callTool(
          { name: "ask_orchestrator", arguments: { message: "Take your time." } },
          CallToolResultSchema,
          { signal: stop.signal },
        );
        asked.catch(() => {});
        const turn = await runner.nextTurn(orchestratorId);
        const { announcer } = platform.server.kernel.engine;
        expect(announcer.isWatched(orchestratorId)).toBe(true);
        stop.abort();
        await expect(asked).rejects.toThrow();
        await expect.poll(() => announcer.isWatched(orchestratorId)).toBe(false);
        await turn.end("Here it is.");
        const { promptId } = turn.assignment;
        const late = await callTool(client, "wait_for_answer", { promptId });
        expect(late.data).toMatchObject({ answer: "Here it is." });
      });

      it("a client that disconnects stops waiting, and gets the answer later", async () => {
        const gone = new AbortController();
        const key = await apiKey(platform, READ_WRITE);
        const asked = fetch(`${platform.url}/mcp`, {
          method: "POST",
          signal: gone.signal,
          headers: {
            ...bearer(key),
            "content-type": "application/json",
            accept: "application/json, text/event-stream",
          },
          body: JSON.stringify(calling("ask_orchestrator", { message: "And now?" })),
        });
        asked.catch(() => {});
        const turn = await runner.nextTurn(orchestratorId);
        const { announcer } = platform.server.kernel.engine;
        await expect.poll(() => announcer.isWatched(orchestratorId)).toBe(true);
        gone.abort();
        await expect.poll(() => announcer.isWatched(orchestratorId)).toBe(false);
        await turn.end("Late, but here.");
        const { promptId } = turn.assignment;
        const late = await callTool(client, "wait_for_answer", { promptId });
        expect(late.data).toMatchObject({ answer: "Late, but here." });
      });

      it("is told when the turn takes longer than the wait", async () => {
        const asked = callTool(client, "ask_orchestrator", {
          message: "Slowly.",
          timeoutSeconds: 1,
        });
        const turn = await runner.nextTurn(orchestratorId);
        const { data } = await asked;
        expect(data).toMatchObject({ state: "running" });
        expect(data.next).toContain("wait_for_answer");
        const waiting = callTool(client, "wait_for_answer", { promptId: String(data.promptId) });
        await turn.journal([], {
          settle: { outcome: "failed", error: { code: "model_down", message: "It is down." } },
        });
        expect(await waiting).toMatchObject({ isError: true, text: /model_down/ });
      });

      it("gets no answer with a key that was revoked during the wait", async () => {
        const { body } = await platform.request<{ key: string; apiKey: { id: string } }>(
          "POST",
          "/api/me/api-keys",
          { name: "short", scopes: READ_WRITE },
        );
        const asking = callTool(await clientOf(body.key), "ask_orchestrator", { message: "Psst" });
        const turn = await runner.nextTurn(orchestratorId);
        await platform.request("DELETE", `/api/me/api-keys/${body.apiKey.id}`);
        await turn.end("a secret");
        const answer = await asking;
        expect(answer.isError).toBe(true);
        expect(answer.text).not.toContain("a secret");
      });

      it("lists, prompts, inspects, reads and stops a session", async () => {
        const { id } = await platform.createSession({ runtime: "native", title: "counter" });
        const listed = await callTool(client, "list_sessions", { search: "counter" });
        expect(listed.data.sessions).toMatchObject([{ sessionId: id, title: "counter" }]);
        const sent = await callTool(client, "prompt_session", { sessionId: id, content: "Count." });
        expect(sent.data).toMatchObject({ sessionId: id });
        const turn = await runner.nextTurn(id);
        await turn.journal([{ type: "message", entryId: "ent_1", kind: "text", text: "One." }]);
        expect(
          (await callTool(client, "get_session_status", { sessionId: id })).data,
        ).toMatchObject({
          activity: "working",
          prompts: 1,
        });
        const read = await callTool(client, "read_session", { sessionId: id });
        expect(read.data.entries).toMatchObject([{ text: "Count." }, { text: "One." }]);
        expect((await callTool(client, "stop_session", { sessionId: id })).isError).toBe(false);
        await turn.journal([], { settle: { outcome: "aborted" } });
        const { data } = await callTool(client, "wait_for_answer", {
          promptId: String(sent.data.promptId),
        });
        expect(data).toEqual({});
      });
    });
  });
}

story("mcp on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a PostgreSQL server", () => {
  story("mcp on postgres", () => createTestDatabase());
});
