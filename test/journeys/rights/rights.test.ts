/**
 * Every route of the running server, for every kind of caller. A route that is missing from the
 * table fails: whoever adds one states its rights there. Ids in paths are Ann's; `other` is another
 * member, `narrow` a key of Ann's for mail only, `runner` a machine's token, `agent` the token of a
 * running child session of Ann's, which may read itself and nothing else.
 */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRunTokens } from "#engine/runs/runners/run-tokens.ts";
import { LEASE_MS } from "#protocol/frames.ts";
import type { Prompt, Session } from "#protocol/sessions.ts";
import {
  type Browser,
  browserOf,
  cookieOf,
  inviteToken,
  join,
  orgOf,
  signIn,
  upgradeStatus,
} from "#test/clients/people.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { CALLERS, type Caller, RIGHTS, SOCKETS, UNDOCUMENTED } from "./rights-table.ts";

/** A configured sign-in service that nobody uses. */
const GITHUB = { MUSTER_GITHUB_CLIENT_ID: "id", MUSTER_GITHUB_CLIENT_SECRET: "secret" };
const SECRET_KEY = "signs-the-tokens-of-this-very-test-run";
const ATTACHED = Buffer.from("attached");
const SKILL = { path: "SKILL.md", content: "---\nname: skill\ndescription: d\n---\n" };

const NAMES = { providers: "lab", skills: "skill", secrets: "DEPLOY_KEY", retention: "audit" };
const nameIn = (path: string) =>
  Object.entries(NAMES).find(([part]) => path.includes(part))?.[1] ?? "";

function story(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let platform: Platform;
    let made: TestDatabase | undefined;
    let orgId: string;
    let ownerId: string;
    let ann: Browser;
    let ben: Browser;
    let vic: Browser;
    let headers: Record<Caller, Record<string, string>>;
    let documented: string[];
    let count = 0;
    /** The worker of the latest supervisor. */
    let workerId = "";

    beforeAll(async () => {
      made = await database();
      platform = await startPlatform({
        runner: false,
        env: {
          ...GITHUB,
          MUSTER_SECRET_KEY: SECRET_KEY,
          ...(made ? { MUSTER_DATABASE_URL: made.url } : {}),
        },
      });
      ({ orgId, ownerId } = await orgOf(platform));
      await execute(`update users set email = 'owner@example.org' where id = '${ownerId}'`);
      ann = await join(platform, "Ann");
      ben = await join(platform, "Ben");
      vic = await join(platform, "Vic");
      const narrow = await ann.request<{ key: string }>("POST", "/api/me/api-keys", {
        name: "narrow",
        scopes: ["mail"],
      });
      const runner = await platform.request<{ token: string }>("POST", "/api/runners/tokens", {
        name: "r",
      });
      const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
      headers = {
        anonymous: {},
        runner: bearer(runner.body.token),
        agent: {},
        narrow: bearer(narrow.body.key),
        other: { cookie: ben.cookie, origin: platform.url },
        admin: bearer(platform.key),
        own: { cookie: ann.cookie, origin: platform.url },
      };
      await platform.request("PUT", "/api/providers/lab", { kind: "anthropic", apiKey: "k" });
      const { body } = await platform.request<{ paths: Record<string, object> }>(
        "GET",
        "/api/openapi.json",
      );
      documented = Object.entries(body.paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
      );
    });
    afterAll(async () => {
      await platform.stop();
      await made?.drop();
    });

    const execute = (sql: string) =>
      platform.server.kernel.engine.store.transaction((tx) => tx.execute({ sql, parameters: [] }));
    /**
     * Sends a request; an agent whose machine was found missing before the answer is started again.
     */
    const send = async (who: Caller, method: string, path: string, body?: unknown) => {
      let status = await sendOnce(who, method, path, body);
      for (let more = 3; more > 0 && who === "agent" && status === 401; more--)
        status = await sendOnce(who, method, path, body);
      return status;
    };
    const sendOnce = async (who: Caller, method: string, path: string, body?: unknown) => {
      if (who === "agent") await putAgentToWork();
      const stop = new AbortController();
      const response = await fetch(platform.url + path, {
        method,
        signal: stop.signal,
        redirect: "manual",
        headers: {
          ...headers[who],
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      // A stream would never end.
      stop.abort();
      return response.status;
    };
    const idFrom = async (
      who: Pick<Browser, "request">,
      key: string,
      path: string,
      body: object,
      method = "POST",
    ): Promise<string> => {
      const made = await who.request<Record<string, { id: string }>>(method, path, body);
      const id = made.body[key]?.id;
      if (id === undefined) throw new Error(`${path}: ${JSON.stringify(made.body)}`);
      return id;
    };
    const annSession = async () =>
      (await ann.request<{ session: Session }>("POST", "/api/sessions", { runtime: "echo" })).body
        .session.id;
    const annPrompt = async () =>
      (
        await ann.request<{ prompt: Prompt }>(
          "POST",
          `/api/sessions/${await annSession()}/prompts`,
          {
            content: "x",
            attachments: [
              { name: "a.txt", mediaType: "text/plain", data: ATTACHED.toString("base64") },
            ],
          },
        )
      ).body.prompt;

    /** A new object for each request, so that no answer depends on an earlier one. */
    const things: [prefix: RegExp, make: () => Promise<string>][] = [
      [/^\/api\/sessions\/\{id\}/, annSession],
      [/^\/api\/orchestration\/sessions\/\{id\}/, annSupervisor],
      [/^\/api\/prompts\/\{id\}/, async () => (await annPrompt()).id],
      [
        /^\/api\/runs\/\{id\}/,
        () =>
          idFrom(ann, "run", "/api/runs", { type: "start_session", prompt: "x", runtime: "echo" }),
      ],
      [/^\/api\/approvals\/\{id\}/, gateOfAnn],
      [
        /^\/api\/policy\/rules\/\{id\}/,
        () =>
          idFrom(ann, "rule", "/api/policy/rules", {
            tool: "bash",
            pattern: "ls",
            effect: "allow",
          }),
      ],
      [/^\/api\/runners\/\{id\}/, runnerOfAnn],
      [
        /^\/api\/runner-tokens\/\{id\}/,
        async () =>
          (await ann.request<{ id: string }>("POST", "/api/runners/tokens", { name: "t" })).body.id,
      ],
      [
        /^\/api\/me\/api-keys\/\{id\}/,
        () => idFrom(ann, "apiKey", "/api/me/api-keys", { name: "k", scopes: ["mail"] }),
      ],
      [/^\/api\/me\/accounts\/\{id\}/, accountOfAnn],
      [
        /^\/api\/me\/memories\/\{id\}/,
        () => idFrom(ann, "memory", "/api/me/memories", { content: "x", title: `t${count}` }),
      ],
      [/^\/api\/me\/(inbox|notifications|inbox-threads|notification-threads)\/\{/, messageToAnn],
      [/^\/api\/messages\/\{/, messageToAnn],
      [
        /\/invitations\/\{id\}/,
        () => idFrom(platform, "invitation", `/api/orgs/${orgId}/invitations`, {}),
      ],
      [
        /\/personas\/\{id\}/,
        () =>
          idFrom(ann, "persona", `/api/orgs/${orgId}/personas`, {
            name: `P${count}`,
            skills: [{ name: "skill", files: [SKILL] }],
          }),
      ],
    ];

    function messageToAnn(): Promise<string> {
      return idFrom(vic, "message", "/api/messages", { to: ann.userId, content: "x" });
    }

    async function annSupervisor(): Promise<string> {
      const id = await annSession();
      await ann.request("POST", `/api/orchestration/sessions/${id}/enable`, {});
      workerId = await idFrom(ann, "session", "/api/sessions", {
        runtime: "echo",
        parentSessionId: id,
      });
      return id;
    }

    async function gateOfAnn(): Promise<string> {
      const { id: promptId, sessionId } = await annPrompt();
      const id = `apr_${++count}`;
      await execute(
        `insert into gates (id, org_id, session_id, thread, prompt_id, run_id, call_id, kind, tool, shown, state, asked_at, expires_at)
       values ('${id}', '${orgId}', '${sessionId}', 'main', '${promptId}', 'run_none', 'c${count}', 'approval', 'bash', '{}', 'pending', 1, 9999999999999)`,
      );
      return id;
    }

    async function accountOfAnn(): Promise<string> {
      const id = `lnk_${++count}`;
      await execute(
        `insert into linked_accounts (id, org_id, user_id, provider, issuer, subject, label, created_at)
       values ('${id}', '${orgId}', '${ann.userId}', 'github', 'https://github.com', '${count}', 'ann', 1)`,
      );
      return id;
    }

    /** A turn held by a fake machine. A lease longer than usual would be revoked at once. */
    async function putAgentToWork(): Promise<{ own: string; parent: string }> {
      const parentSessionId = await annSession();
      await ann.request("POST", `/api/orchestration/sessions/${parentSessionId}/enable`, {});
      const { body } = await ann.request<{ session: Session }>("POST", "/api/sessions", {
        runtime: "echo",
        parentSessionId,
      });
      const { body: admitted } = await ann.request<{ prompt: Prompt }>(
        "POST",
        `/api/sessions/${body.session.id}/prompts`,
        { content: "x" },
      );
      const runId = admitted.prompt.runId ?? "";
      await execute(
        `update runs set state = 'running', fence = 1, runner_id = 'rnr_none', lease_until = ${Date.now() + LEASE_MS - 1_000} where id = '${runId}'`,
      );
      const token = createRunTokens(SECRET_KEY).mint({ runId, fence: 1 });
      headers.agent = { authorization: `Bearer ${token}` };
      return { own: body.session.id, parent: parentSessionId };
    }

    async function runnerOfAnn(): Promise<string> {
      const id = `rnr_${++count}`;
      await execute(
        `insert into runners (id, org_id, owner_id, created_by, scope, credential_id, name, hostname, folder, profile, tags, runtimes, capacity, version, protocol, state, boot_id, last_seen_at, created_at)
       values ('${id}', '${orgId}', '${ann.userId}', 'x', 'user:${ann.userId}', 'crd_none', 'r', 'h', '/f${count}', 'default', '[]', '[]', 1, '0', 1, 'offline', 'b', 1, 1)`,
      );
      return id;
    }

    async function fill(path: string): Promise<string> {
      count++;
      const thing = things.find(([prefix]) => prefix.test(path));
      const id = (await thing?.[1]()) ?? "";
      const values: Record<string, string> = {
        orgId,
        userId: vic.userId,
        name: nameIn(path),
        n: "1",
        provider: "github",
        sha256: createHash("sha256").update(ATTACHED).digest("hex"),
        token: path.includes("{token}") ? await inviteToken(platform) : "",
        id,
        // A message that replies to none.
        threadId: id,
        taskId: path.includes("{taskId}")
          ? await idFrom(ann, "task", `/api/sessions/${id}/tasks`, { title: "t" })
          : "",
        workerId,
        sessionId: path.includes("{sessionId}") ? await annSession() : "",
        repoId: path.includes("{repoId}")
          ? await idFrom(platform, "repo", `/api/orgs/${orgId}/repos`, {
              url: `https://example.org/team/r${count}.git`,
            })
          : "",
      };
      return path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => values[name] ?? name);
    }

    async function comeBack(): Promise<void> {
      const again = async ({ userId, email }: Browser) =>
        browserOf(platform, userId, email, cookieOf(await signIn(platform, email)));
      [ann, ben] = [await again(ann), await again(ben)];
      headers.own = { cookie: ann.cookie, origin: platform.url };
      headers.other = { cookie: ben.cookie, origin: platform.url };
    }

    it("are stated for every existing route, and for no other", () => {
      expect(Object.keys(RIGHTS).sort()).toEqual(documented.sort());
    });

    it.each(Object.entries(RIGHTS))("%s", async (route, { who, body, signsOut, query }) => {
      const [method = "", path = ""] = route.split(" ");
      const seen: number[] = [];
      for (const caller of CALLERS) {
        const given = typeof body === "function" ? body(++count) : body;
        seen.push(await send(caller, method, (await fill(path)) + (query ?? ""), given));
      }
      if (signsOut) await comeBack();
      expect(seen.join(" ")).toBe(who);
    });

    it("let an agent read itself, and nothing above or beside it", async () => {
      const { own, parent } = await putAgentToWork();
      const { agent } = headers;
      const ask = async (path: string, method = "GET", body?: object) => {
        const json = { "content-type": "application/json" };
        const sent = body ? { headers: { ...agent, ...json }, body: JSON.stringify(body) } : {};
        return (await fetch(platform.url + path, { method, headers: agent ?? {}, ...sent })).status;
      };
      expect(await ask(`/api/sessions/${own}/transcript`)).toBe(200);
      expect(await ask(`/api/sessions/${parent}`)).toBe(404);
      expect(await ask(`/api/sessions/${parent}/children`)).toBe(404);
      expect(await ask(`/api/sessions/${parent}/prompts`, "POST", { content: "x" })).toBe(404);
      expect(await ask(`/api/sessions/${own}/prompts`, "POST", { content: "x" })).toBe(404);
      expect(await ask("/api/sessions", "POST", { parentSessionId: parent })).toBe(403);
      expect(await ask("/api/sessions")).toBe(403);
    });

    it.each(UNDOCUMENTED)("GET %s, which is not in the document", async (path, who) => {
      const seen: number[] = [];
      for (const caller of CALLERS) seen.push(await send(caller, "GET", path));
      expect(seen.join(" ")).toBe(who);
    });

    it.each(SOCKETS)("a socket at %s", async (path, who) => {
      const seen: number[] = [];
      for (const caller of CALLERS) {
        if (caller === "agent") await putAgentToWork();
        seen.push(await upgradeStatus(platform, path, headers[caller]));
      }
      expect(seen.join(" ")).toBe(who);
    });
  });
}

story("rights on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a PostgreSQL server", () => {
  story("rights on postgres", createTestDatabase);
});
