/** From one owner to a team, through the API on each database. */
import { join as joinPath } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createLog } from "#base/log.ts";
import { createInlineTransport } from "#main/runner/inline-transport.ts";
import { startRunner } from "#main/runner/runner.ts";
import type { Session } from "#protocol/sessions.ts";
import {
  ask,
  type Browser,
  clientWithKey,
  closeCode,
  cookieOf,
  inviteToken,
  join,
  type KeyScope,
  openSocket,
  orgOf,
  PASSWORD,
  postAnonymously,
  signIn,
} from "#test/clients/people.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";

const PATIENT = { timeout: 15_000, interval: 25 };

interface Refused {
  error?: { code: string };
}

function story(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let platform: Platform;
    let made: TestDatabase | undefined;
    let orgId: string;
    let ownerId: string;
    let ann: Browser;
    let ben: Browser;

    beforeAll(async () => {
      made = await database();
      platform = await startPlatform({ env: made ? { MUSTER_DATABASE_URL: made.url } : {} });
      ({ orgId, ownerId } = await orgOf(platform));
      ann = await join(platform, "Ann");
      ben = await join(platform, "Ben");
    });
    afterAll(async () => {
      await platform.stop();
      await made?.drop();
    });

    const execute = (sql: string) =>
      platform.server.kernel.engine.store.transaction((tx) => tx.execute({ sql, parameters: [] }));
    const sweep = async (name: string, now = Date.now()) => {
      const { engine } = platform.server.kernel;
      const found = platform.server.auth.feature.sweeps?.find((item) => item.name === name);
      await found?.run(engine, now);
    };
    const makeKey = (who: Browser, scopes: KeyScope[], fields: { expiresAt?: string } = {}) =>
      who.api.me.createApiKey({ body: { name: "k", scopes, ...fields } });
    const askForKey = (who: Browser, scopes: string[], fields: object = {}) =>
      who.request<Refused>("POST", "/api/me/api-keys", { name: "k", scopes, ...fields });
    const withKey = (key: string, method: string, path: string, body?: unknown) =>
      platform.request<Refused>(method, path, body, { authorization: `Bearer ${key}` });
    const member = (userId: string) => `/api/orgs/${orgId}/members/${userId}`;
    const remove = (userId: string) => platform.api.orgs.removeMember({ orgId, userId });
    const createAs = async (who: Browser, runtime = "scripted"): Promise<Session> =>
      (await who.api.sessions.create({ body: { runtime } })).session;

    describe("keys", () => {
      it("are shown once and have only the scopes they were made with", async () => {
        const { key, apiKey } = await makeKey(ann, ["sessions:read"]);
        expect(key).toMatch(/^mst_key_/);
        const list = await ann.api.me.listApiKeys();
        expect(list.items).toMatchObject([{ id: apiKey.id, lastUsedAt: null }]);
        expect(JSON.stringify(list)).not.toContain(key);
        expect((await withKey(key, "GET", "/api/sessions")).status).toBe(200);
        expect((await withKey(key, "POST", "/api/sessions", {})).status).toBe(403);
        expect(
          (
            await withKey(key, "POST", "/api/me/api-keys", {
              name: "x",
              scopes: ["sessions:read"],
            })
          ).status,
        ).toBe(403);
        await sweep("last use of credentials");
        const after = await ann.api.me.listApiKeys();
        expect(after.items[0]?.lastUsedAt).not.toBeNull();
        expect((await ben.request("DELETE", `/api/me/api-keys/${apiKey.id}`)).status).toBe(404);
        await ann.api.me.revokeApiKey({ id: apiKey.id });
        expect((await withKey(key, "GET", "/api/sessions")).status).toBe(401);
      });

      it("never have more rights than their maker, nor outlive it", async () => {
        expect((await askForKey(ann, ["admin"])).body.error?.code).toBe("scope_not_yours");
        expect((await askForKey(ann, ["*"])).status).toBe(400);
        expect((await askForKey(ann, [])).status).toBe(400);
        const past = await askForKey(ann, ["mail"], { expiresAt: "2020-01-01T00:00:00Z" });
        expect(past.body.error?.code).toBe("expiry_in_the_past");
        const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
        const first = await makeKey(ann, ["account", "sessions:read"], { expiresAt });
        const more = { name: "k2", scopes: ["sessions:write"] };
        const refused = await withKey(first.key, "POST", "/api/me/api-keys", more);
        expect(refused).toMatchObject({
          status: 403,
          body: { error: { code: "scope_not_yours" } },
        });
        const second = await clientWithKey(platform, first.key).me.createApiKey({
          body: { name: "k2", scopes: ["account", "sessions:read"] },
        });
        expect(second.apiKey.expiresAt).toBe(expiresAt);
        const { link } = await clientWithKey(platform, second.key).auth.createLink();
        const token = new URL(link).hash.slice("#token=".length);
        const cookie = cookieOf(await postAnonymously(platform, "/api/auth/sign-in", { token }));
        const reads = async () =>
          (await fetch(`${platform.url}/api/me`, { headers: { cookie } })).status;
        expect(await reads()).toBe(200);
        await ann.api.me.revokeApiKey({ id: first.apiKey.id });
        // Everything made with it is revoked too, at any distance.
        expect((await withKey(second.key, "GET", "/api/me")).status).toBe(401);
        expect(await reads()).toBe(401);
      });

      it("close their streams and sockets when they are revoked", async () => {
        const { key, apiKey } = await makeKey(ann, ["sessions:read"]);
        const session = await createAs(ann);
        const headers = { authorization: `Bearer ${key}` };
        const socket = await openSocket(platform, "/api/live", headers);
        const stream = await fetch(`${platform.url}/api/sessions/${session.id}/events`, {
          headers,
        });
        const ended = stream.text();
        const closed = closeCode(socket);
        await ann.api.me.revokeApiKey({ id: apiKey.id });
        expect(await closed).toBe(4401);
        expect(await ended).toContain("session_created");
      });

      it("are deleted long after they expired", async () => {
        const { apiKey } = await makeKey(ben, ["mail"]);
        await ben.api.me.revokeApiKey({ id: apiKey.id });
        const rows = () => execute(`update credentials set name = name where id = '${apiKey.id}'`);
        await sweep("dead credentials", Date.now() + 29 * 86_400_000);
        expect(await rows()).toBe(1);
        await sweep("dead credentials", Date.now() + 31 * 86_400_000);
        expect(await rows()).toBe(0);
        await ben.api.me.get();
      });
    });

    describe("invitations", () => {
      it("admit one person, once", async () => {
        const token = await inviteToken(platform, { email: "Cy@Example.org", role: "admin" });
        const path = `/api/invitations/${token}/accept`;
        const cy = { name: "Cy", email: "cy@example.org", password: PASSWORD };
        const other = await postAnonymously(platform, path, { ...cy, email: "eve@example.org" });
        expect(other.body.error?.code).toBe("email_not_invited");
        expect(JSON.stringify(other.body)).not.toContain("cy@");
        expect((await postAnonymously(platform, path, { ...cy, password: "short" })).status).toBe(
          400,
        );
        expect((await postAnonymously(platform, path, { ...cy, role: "admin" })).status).toBe(400);
        const answers = await Promise.all([
          postAnonymously(platform, path, cy),
          postAnonymously(platform, path, cy),
        ]);
        expect(answers.map(({ status }) => status).sort()).toEqual([201, 404].sort());
        const joined = answers.find(({ status }) => status === 201);
        expect(joined?.body).toMatchObject({ user: { email: "cy@example.org", role: "admin" } });
        expect(joined?.headers.get("set-cookie")).toMatch(/HttpOnly; SameSite=Strict/);
        const again = await inviteToken(platform);
        const taken = await postAnonymously(platform, `/api/invitations/${again}/accept`, cy);
        expect(taken.body.error?.code).toBe("email_taken");
        await remove(joined?.body.user?.id ?? "");
      });

      it("can be withdrawn, and expire", async () => {
        const path = `/api/orgs/${orgId}/invitations`;
        const token = await inviteToken(platform, { email: "dee@example.org" });
        const list = await platform.api.orgs.listInvitations({ orgId });
        const found = list.items.find(({ email }) => email === "dee@example.org");
        expect(JSON.stringify(list)).not.toContain(token);
        expect((await ann.request("GET", path)).status).toBe(403);
        expect((await ann.request("POST", path, {})).status).toBe(403);
        expect((await platform.request("DELETE", `${path}/${found?.id}`)).status).toBe(200);
        expect((await platform.request("DELETE", `${path}/${found?.id}`)).status).toBe(404);
        const dee = { name: "Dee", email: "dee@example.org", password: PASSWORD };
        const withdrawn = await postAnonymously(platform, `/api/invitations/${token}/accept`, dee);
        expect(withdrawn).toMatchObject({ status: 404 });
        const late = await inviteToken(platform, { email: "dee@example.org" });
        await execute("update invitations set expires_at = 1 where accepted_at is null");
        expect(await postAnonymously(platform, `/api/invitations/${late}/accept`, dee)).toEqual({
          ...withdrawn,
          headers: expect.anything(),
        });
      });
    });

    describe("members", () => {
      it("see each other, and admins see their addresses", async () => {
        const seen = await ann.api.orgs.listMembers({ orgId });
        const byId = new Map(seen.items.map((item) => [item.userId, item]));
        expect(byId.get(ann.userId)).toMatchObject({
          name: "Ann",
          role: "member",
          email: ann.email,
        });
        expect(byId.get(ben.userId)).not.toHaveProperty("email");
        const all = await platform.api.orgs.listMembers({ orgId });
        expect(JSON.stringify(all)).toContain(ben.email);
        expect((await ann.request("GET", "/api/orgs/org_other/members")).status).toBe(404);
        expect((await ann.request("PATCH", `/api/orgs/${orgId}`, { name: "x" })).status).toBe(403);
        const renamed = await platform.api.orgs.update({ orgId, body: { name: "Crew" } });
        expect(renamed).toMatchObject({ org: { id: orgId, name: "Crew", slug: "muster" } });
        const me = { name: "Ann B", timezone: "Europe/Zurich", locale: "de-CH" };
        expect(await ann.api.me.update({ body: me })).toMatchObject({ user: me });
        for (const bad of [
          { timezone: "Mars/One" },
          { locale: "!" },
          { name: "a\u001b[2Jb" },
          { role: "admin" },
        ])
          expect((await ann.request("PATCH", "/api/me", bad)).status).toBe(400);
      });

      it("always include an admin", async () => {
        const last = { status: 409, body: { error: { code: "last_admin" } } };
        expect(await platform.request("PATCH", member(ownerId), { role: "member" })).toMatchObject(
          last,
        );
        expect(await platform.request("DELETE", member(ownerId))).toMatchObject(last);
        const fay = await join(platform, "Fay", "admin");
        const answers = await Promise.all([
          platform.request("PATCH", member(fay.userId), { role: "member" }),
          fay.request("PATCH", member(ownerId), { role: "member" }),
        ]);
        // Whoever came first, the other is refused: as the last admin, or as one no longer.
        const good = answers.filter(({ status }) => status === 200);
        expect(good.length).toBe(1);
        await execute(`update users set role = 'admin' where id = '${ownerId}'`);
        platform.server.auth.forget();
        await remove(fay.userId);
      });

      it("must sign in again when their role changes", async () => {
        const gus = await join(platform, "Gus");
        const { key } = await makeKey(gus, ["sessions:read"]);
        const headers = { authorization: `Bearer ${key}` };
        const socket = await openSocket(platform, "/api/live", headers);
        const closed = closeCode(socket);
        await platform.api.orgs.updateMember({
          orgId,
          userId: gus.userId,
          body: { role: "admin" },
        });
        expect((await gus.request("GET", "/api/me")).status).toBe(401);
        expect(await closed).toBe(4401);
        expect((await withKey(key, "GET", "/api/audit/verify")).status).toBe(403);
        await remove(gus.userId);
      });

      it("lose every credential when they leave, and their work stops", async () => {
        const hal = await join(platform, "Hal");
        const { key } = await makeKey(hal, ["sessions:read", "sessions:write", "account"]);
        const { token } = await hal.api.runnerTokens.create({ body: { name: "r" } });
        const session = await createAs(hal);
        const send = async (content: string) =>
          (await hal.api.prompts.create({ id: session.id, body: { content } })).prompt.id;
        const running = await send("hang");
        const waiting = await send("say later");
        await vi.waitFor(async () => {
          const { prompt } = await hal.api.prompts.get({ id: running });
          expect(prompt.state).toBe("running");
        }, PATIENT);
        const socket = await openSocket(platform, "/api/live", {
          cookie: hal.cookie,
          origin: platform.url,
        });
        const closed = closeCode(socket);
        expect((await ann.request("DELETE", member(hal.userId))).status).toBe(403);
        await remove(hal.userId);
        expect(await closed).toBe(4401);
        for (const secret of [key, token])
          expect((await withKey(secret, "GET", "/api/me")).status).toBe(401);
        expect((await hal.request("GET", "/api/me")).status).toBe(401);
        expect((await signIn(platform, hal.email)).status).toBe(401);
        await vi.waitFor(async () => {
          const events = await platform.events(session.id);
          const settled = events.filter(({ type }) => type === "prompt_settled");
          expect(settled.map(({ promptId }) => promptId).sort()).toEqual([running, waiting].sort());
        }, PATIENT);
        expect((await platform.request("DELETE", member(hal.userId))).status).toBe(404);

        // Only an admin who names the person brings them back to their former account.
        const token2 = await inviteToken(platform, { userId: hal.userId });
        const back = await postAnonymously(platform, `/api/invitations/${token2}/accept`, {
          name: "Hal",
          email: hal.email,
          password: PASSWORD,
        });
        expect(back.body.user?.id).toBe(hal.userId);
        const cookie = cookieOf(back);
        const own = await fetch(`${platform.url}/api/sessions/${session.id}`, {
          headers: { cookie },
        });
        expect(own.status).toBe(200);
        expect((await withKey(key, "GET", "/api/me")).status).toBe(401);
      });
    });

    describe("passwords", () => {
      it("sign in, can be changed, and a change signs out other browsers", async () => {
        const ida = await join(platform, "Ida");
        const second = cookieOf(await signIn(platform, "IDA@example.org"));
        expect(second).not.toBe(ida.cookie);
        const change = (body: object) => ida.request("PUT", "/api/me/password", body);
        const next = "another long password";
        expect((await change({ newPassword: next })).status).toBe(401);
        expect((await change({ currentPassword: "wrong", newPassword: next })).status).toBe(401);
        expect(
          (await change({ currentPassword: PASSWORD, newPassword: "aaaaaaaaaaaaaaaa" })).body,
        ).toMatchObject({
          error: { code: "password_weak" },
        });
        const { key } = await makeKey(ida, ["account"]);
        expect(
          (await withKey(key, "PUT", "/api/me/password", { newPassword: next })).body,
        ).toMatchObject({ error: { code: "sign_in_needed" } });
        const changed = await change({ currentPassword: PASSWORD, newPassword: next });
        expect(changed.status).toBe(200);
        const reads = async (cookie: string) =>
          (await fetch(`${platform.url}/api/me`, { headers: { cookie } })).status;
        expect(await reads(second)).toBe(401);
        expect(await reads(ida.cookie)).toBe(401);
        expect(await reads(cookieOf(changed))).toBe(200);
        expect((await signIn(platform, ida.email)).status).toBe(401);
        const again = cookieOf(await signIn(platform, ida.email, next));
        expect(await reads(again)).toBe(200);
        const out = await fetch(`${platform.url}/api/auth/sign-out-everywhere`, {
          method: "POST",
          headers: { cookie: again, origin: platform.url, "content-type": "application/json" },
          body: "{}",
        });
        expect(out.status).toBe(200);
        expect(await reads(again)).toBe(401);
        expect(await reads(cookieOf(changed))).toBe(401);
        expect((await withKey(key, "GET", "/api/me")).status).toBe(200);
      });

      it("are set by the owner with the machine's key", async () => {
        const set = (body: object) => platform.request("PUT", "/api/me/password", body);
        expect(await platform.server.auth.hasPasswordSignIn()).toBe(false);
        expect((await set({ newPassword: PASSWORD })).body).toMatchObject({
          error: { code: "email_missing" },
        });
        expect((await set({ newPassword: PASSWORD, email: ann.email })).body).toMatchObject({
          error: { code: "email_taken" },
        });
        expect((await set({ newPassword: PASSWORD, email: "owner@example.org" })).status).toBe(200);
        expect(await platform.server.auth.hasPasswordSignIn()).toBe(true);
        expect((await signIn(platform, "owner@example.org")).status).toBe(200);
      });

      it("cannot be guessed, nor used to find out who is a member", async () => {
        const kim = await join(platform, "Kim");
        const guess = (email: string) => signIn(platform, email, "not the password");
        const known = await guess(kim.email);
        const unknown = await guess("nobody@example.org");
        expect(known.status).toBe(401);
        expect(unknown).toEqual({ ...known, headers: expect.anything() });
        // All at once: attempts in progress count too.
        const rest = await Promise.all(Array.from({ length: 12 }, () => guess(kim.email)));
        expect(rest.filter(({ status }) => status === 401)).toHaveLength(9);
        const locked = await signIn(platform, kim.email);
        expect(locked).toMatchObject({ status: 429, body: { error: { code: "sign_in_locked" } } });
        expect(Number(locked.headers.get("retry-after"))).toBeGreaterThan(600);
        // Others are not locked out with them, nor are people who are signed in.
        expect((await signIn(platform, ann.email)).status).toBe(200);
        expect((await kim.request("GET", "/api/me")).status).toBe(200);
      }, 30_000);
    });

    it("answers for others' private things as if there were none", async () => {
      const session = await createAs(ann);
      const { prompt } = await ann.api.prompts.create({
        id: session.id,
        body: { content: "say a secret of Ann" },
      });
      const promptId = prompt.id;
      const bySession = ["", "/transcript", "/prompts", "/events", "/changes"];
      for (const path of bySession) {
        const theirs = await ben.request("GET", `/api/sessions/${session.id}${path}`);
        const missing = await ben.request("GET", `/api/sessions/ses_missing${path}`);
        expect(theirs).toMatchObject({ status: 404 });
        expect(theirs.body).toEqual(missing.body);
      }
      for (const [method, path, body] of [
        ["POST", `/api/sessions/${session.id}/prompts`, { content: "x" }],
        ["POST", `/api/sessions/${session.id}/stop`, {}],
        ["PATCH", `/api/sessions/${session.id}`, { title: "x" }],
        ["DELETE", `/api/sessions/${session.id}`, undefined],
        ["GET", `/api/prompts/${promptId}`, undefined],
        ["POST", `/api/prompts/${promptId}/promote`, {}],
      ] as const)
        expect((await ben.request(method, path, body)).status).toBe(404);
      expect(JSON.stringify(await ben.api.sessions.list())).not.toContain(session.id);
      const socket = await openSocket(platform, "/api/live", {
        cookie: ben.cookie,
        origin: platform.url,
      });
      const theirs = await ask(socket, { op: "subscribe", topic: `session:${session.id}` });
      const missing = await ask(socket, { op: "subscribe", topic: "session:ses_missing" });
      expect(theirs).toMatchObject({ op: "error", code: "not_found" });
      expect({ ...theirs, topic: "" }).toEqual({ ...missing, topic: "" });
      socket.terminate();
    });

    it("lets a member's machine work for its owner only", async () => {
      const { token, scope } = await ann.api.runnerTokens.create({ body: { name: "anns" } });
      expect(scope).toBe(`user:${ann.userId}`);
      const org = await ann.request("POST", "/api/runners/tokens", { name: "x", scope: "org" });
      expect(org.status).toBe(403);
      const caller = await platform.server.auth.authenticate(token);
      if (caller?.principal.kind !== "runner") throw new Error("not a runner's token");
      const log = createLog({ level: "error" });
      const runner = await startRunner(
        {
          folder: joinPath(platform.config.home, "anns"),
          name: "anns",
          profile: "anns",
          tags: ["anns"],
          projectDir: null,
          capacity: 4,
          drainMs: 100,
          native: platform.config,
          gateway: { serverUrl: platform.url, token },
        },
        createInlineTransport(platform.server.kernel.dispatcher, caller.principal, log),
        log,
      );
      const start = async ({ api }: Browser) =>
        (
          await api.runs.create({
            body: {
              type: "start_session",
              runtime: "scripted",
              prompt: "say hi",
              demands: { tags: ["anns"] },
            },
          })
        ).run.id;
      const stateOf = async ({ api }: Browser, id: string) =>
        (await api.runs.get({ id })).run.state;
      const [theirs, own] = [await start(ben), await start(ann)];
      await vi.waitFor(async () => expect(await stateOf(ann, own)).toBe("completed"), PATIENT);
      expect(await stateOf(ben, theirs)).toBe("pending");
      const names = async ({ api }: Browser) =>
        (await api.runners.list()).items.some(({ name }) => name === "anns");
      expect([await names(ann), await names(ben)]).toEqual([true, false]);
      await runner.stop();
    });
  });
}

story("people on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a PostgreSQL server", () => {
  story("people on postgres", createTestDatabase);
});
