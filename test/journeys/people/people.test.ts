/** From one owner to a team, through the API on each database. */
import { join as joinPath } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createLog } from "#base/log.ts";
import { createInlineTransport } from "#main/runner/inline-transport.ts";
import { startRunner } from "#main/runner/runner.ts";
import type { Prompt, Session } from "#protocol/sessions.ts";
import {
  ask,
  type Browser,
  closeCode,
  cookieOf,
  inviteToken,
  join,
  knock,
  openSocket,
  orgOf,
  PASSWORD,
  signIn,
} from "#test/clients/people.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";

const PATIENT = { timeout: 15_000, interval: 25 };

interface KeyMade {
  apiKey: { id: string; scopes: string[]; expiresAt: string | null; lastUsedAt: string | null };
  key: string;
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
    const makeKey = (who: Browser, scopes: string[], fields: object = {}) =>
      who.request<KeyMade>("POST", "/api/me/api-keys", { name: "k", scopes, ...fields });
    const withKey = (key: string, method: string, path: string, body?: unknown) =>
      platform.request<KeyMade>(method, path, body, { authorization: `Bearer ${key}` });
    const member = (userId: string) => `/api/orgs/${orgId}/members/${userId}`;
    const createAs = async (who: Browser, runtime = "scripted") =>
      (await who.request<{ session: Session }>("POST", "/api/sessions", { runtime })).body.session;

    describe("keys", () => {
      it("are shown once and have only the scopes they were made with", async () => {
        const { status, body } = await makeKey(ann, ["sessions:read"]);
        expect(status).toBe(201);
        expect(body.key).toMatch(/^mst_key_/);
        const list = await ann.request<{ items: object[] }>("GET", "/api/me/api-keys");
        expect(list.body.items).toMatchObject([{ id: body.apiKey.id, lastUsedAt: null }]);
        expect(JSON.stringify(list.body)).not.toContain(body.key);
        expect((await withKey(body.key, "GET", "/api/sessions")).status).toBe(200);
        expect((await withKey(body.key, "POST", "/api/sessions", {})).status).toBe(403);
        expect(
          (
            await withKey(body.key, "POST", "/api/me/api-keys", {
              name: "x",
              scopes: ["sessions:read"],
            })
          ).status,
        ).toBe(403);
        await sweep("last use of credentials");
        const after = await ann.request<{ items: KeyMade["apiKey"][] }>("GET", "/api/me/api-keys");
        expect(after.body.items[0]?.lastUsedAt).not.toBeNull();
        expect((await ben.request("DELETE", `/api/me/api-keys/${body.apiKey.id}`)).status).toBe(
          404,
        );
        expect((await ann.request("DELETE", `/api/me/api-keys/${body.apiKey.id}`)).status).toBe(
          200,
        );
        expect((await withKey(body.key, "GET", "/api/sessions")).status).toBe(401);
      });

      it("never have more rights than their maker, nor outlive it", async () => {
        expect((await makeKey(ann, ["admin"])).body.error?.code).toBe("scope_not_yours");
        expect((await makeKey(ann, ["*"])).status).toBe(400);
        expect((await makeKey(ann, [])).status).toBe(400);
        const past = await makeKey(ann, ["mail"], { expiresAt: "2020-01-01T00:00:00Z" });
        expect(past.body.error?.code).toBe("expiry_in_the_past");
        const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
        const first = (await makeKey(ann, ["account", "sessions:read"], { expiresAt })).body;
        const more = { name: "k2", scopes: ["sessions:write"] };
        const refused = await withKey(first.key, "POST", "/api/me/api-keys", more);
        expect(refused).toMatchObject({
          status: 403,
          body: { error: { code: "scope_not_yours" } },
        });
        const second = await withKey(first.key, "POST", "/api/me/api-keys", {
          name: "k2",
          scopes: ["account", "sessions:read"],
        });
        expect(second.body.apiKey.expiresAt).toBe(expiresAt);
        const { body: link } = await platform.request<{ link: string }>(
          "POST",
          "/api/auth/links",
          {},
          { authorization: `Bearer ${second.body.key}` },
        );
        const token = new URL(link.link).hash.slice("#token=".length);
        const cookie = cookieOf(await knock(platform, "/api/auth/sign-in", { token }));
        const reads = async () =>
          (await fetch(`${platform.url}/api/me`, { headers: { cookie } })).status;
        expect(await reads()).toBe(200);
        await ann.request("DELETE", `/api/me/api-keys/${first.apiKey.id}`);
        // Everything made with it is revoked too, at any distance.
        expect((await withKey(second.body.key, "GET", "/api/me")).status).toBe(401);
        expect(await reads()).toBe(401);
      });

      it("close their streams and sockets when they are revoked", async () => {
        const { body } = await makeKey(ann, ["sessions:read"]);
        const session = await createAs(ann);
        const headers = { authorization: `Bearer ${body.key}` };
        const socket = await openSocket(platform, "/api/live", headers);
        const stream = await fetch(`${platform.url}/api/sessions/${session.id}/events`, {
          headers,
        });
        const ended = stream.text();
        const closed = closeCode(socket);
        await ann.request("DELETE", `/api/me/api-keys/${body.apiKey.id}`);
        expect(await closed).toBe(4401);
        expect(await ended).toContain("session_created");
      });

      it("are deleted long after they expired", async () => {
        const { body } = await makeKey(ben, ["mail"]);
        await ben.request("DELETE", `/api/me/api-keys/${body.apiKey.id}`);
        const rows = () =>
          execute(`update credentials set name = name where id = '${body.apiKey.id}'`);
        await sweep("dead credentials", Date.now() + 29 * 86_400_000);
        expect(await rows()).toBe(1);
        await sweep("dead credentials", Date.now() + 31 * 86_400_000);
        expect(await rows()).toBe(0);
        expect((await ben.request("GET", "/api/me")).status).toBe(200);
      });
    });

    describe("invitations", () => {
      it("admit one person, once", async () => {
        const token = await inviteToken(platform, { email: "Cy@Example.org", role: "admin" });
        const path = `/api/invitations/${token}/accept`;
        const cy = { name: "Cy", email: "cy@example.org", password: PASSWORD };
        const other = await knock(platform, path, { ...cy, email: "eve@example.org" });
        expect(other.body.error?.code).toBe("email_not_invited");
        expect(JSON.stringify(other.body)).not.toContain("cy@");
        expect((await knock(platform, path, { ...cy, password: "short" })).status).toBe(400);
        expect((await knock(platform, path, { ...cy, role: "admin" })).status).toBe(400);
        const answers = await Promise.all([knock(platform, path, cy), knock(platform, path, cy)]);
        expect(answers.map(({ status }) => status).sort()).toEqual([201, 404].sort());
        const joined = answers.find(({ status }) => status === 201);
        expect(joined?.body).toMatchObject({ user: { email: "cy@example.org", role: "admin" } });
        expect(joined?.headers.get("set-cookie")).toMatch(/HttpOnly; SameSite=Strict/);
        const again = await inviteToken(platform);
        const taken = await knock(platform, `/api/invitations/${again}/accept`, cy);
        expect(taken.body.error?.code).toBe("email_taken");
        await platform.request("DELETE", member(joined?.body.user?.id ?? ""));
      });

      it("can be withdrawn, and expire", async () => {
        const path = `/api/orgs/${orgId}/invitations`;
        const token = await inviteToken(platform, { email: "dee@example.org" });
        const list = await platform.request<{ items: { id: string; email: string }[] }>(
          "GET",
          path,
        );
        const found = list.body.items.find(({ email }) => email === "dee@example.org");
        expect(JSON.stringify(list.body)).not.toContain(token);
        expect((await ann.request("GET", path)).status).toBe(403);
        expect((await ann.request("POST", path, {})).status).toBe(403);
        expect((await platform.request("DELETE", `${path}/${found?.id}`)).status).toBe(200);
        expect((await platform.request("DELETE", `${path}/${found?.id}`)).status).toBe(404);
        const dee = { name: "Dee", email: "dee@example.org", password: PASSWORD };
        const withdrawn = await knock(platform, `/api/invitations/${token}/accept`, dee);
        expect(withdrawn).toMatchObject({ status: 404 });
        const late = await inviteToken(platform, { email: "dee@example.org" });
        await execute("update invitations set expires_at = 1 where accepted_at is null");
        expect(await knock(platform, `/api/invitations/${late}/accept`, dee)).toEqual({
          ...withdrawn,
          headers: expect.anything(),
        });
      });
    });

    describe("members", () => {
      it("see each other, and admins see their addresses", async () => {
        const seen = await ann.request<{ items: { userId: string; email?: string }[] }>(
          "GET",
          `/api/orgs/${orgId}/members`,
        );
        const byId = new Map(seen.body.items.map((item) => [item.userId, item]));
        expect(byId.get(ann.userId)).toMatchObject({
          name: "Ann",
          role: "member",
          email: ann.email,
        });
        expect(byId.get(ben.userId)).not.toHaveProperty("email");
        const all = await platform.request("GET", `/api/orgs/${orgId}/members`);
        expect(JSON.stringify(all.body)).toContain(ben.email);
        expect((await ann.request("GET", "/api/orgs/org_other/members")).status).toBe(404);
        expect((await ann.request("PATCH", `/api/orgs/${orgId}`, { name: "x" })).status).toBe(403);
        const renamed = await platform.request("PATCH", `/api/orgs/${orgId}`, { name: "Crew" });
        expect(renamed.body).toMatchObject({ org: { id: orgId, name: "Crew", slug: "muster" } });
        const me = { name: "Ann B", timezone: "Europe/Zurich", locale: "de-CH" };
        expect((await ann.request("PATCH", "/api/me", me)).body).toMatchObject({ user: me });
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
        await platform.request("DELETE", member(fay.userId));
      });

      it("must sign in again when their role changes", async () => {
        const gus = await join(platform, "Gus");
        const { body } = await makeKey(gus, ["sessions:read"]);
        const headers = { authorization: `Bearer ${body.key}` };
        const socket = await openSocket(platform, "/api/live", headers);
        const closed = closeCode(socket);
        expect(
          (await platform.request("PATCH", member(gus.userId), { role: "admin" })).status,
        ).toBe(200);
        expect((await gus.request("GET", "/api/me")).status).toBe(401);
        expect(await closed).toBe(4401);
        expect((await withKey(body.key, "GET", "/api/audit/verify")).status).toBe(403);
        await platform.request("DELETE", member(gus.userId));
      });

      it("lose every credential when they leave, and their work stops", async () => {
        const hal = await join(platform, "Hal");
        const { body: key } = await makeKey(hal, ["sessions:read", "sessions:write", "account"]);
        const token = await hal.request<{ token: string }>("POST", "/api/runners/tokens", {
          name: "r",
        });
        const session = await createAs(hal);
        const send = async (content: string) =>
          (
            await hal.request<{ prompt: Prompt }>("POST", `/api/sessions/${session.id}/prompts`, {
              content,
            })
          ).body.prompt.id;
        const running = await send("hang");
        const waiting = await send("say later");
        await vi.waitFor(async () => {
          const { body } = await hal.request<{ prompt: Prompt }>("GET", `/api/prompts/${running}`);
          expect(body.prompt.state).toBe("running");
        }, PATIENT);
        const socket = await openSocket(platform, "/api/live", {
          cookie: hal.cookie,
          origin: platform.url,
        });
        const closed = closeCode(socket);
        expect((await ann.request("DELETE", member(hal.userId))).status).toBe(403);
        expect((await platform.request("DELETE", member(hal.userId))).status).toBe(200);
        expect(await closed).toBe(4401);
        for (const secret of [key.key, token.body.token])
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
        const back = await knock(platform, `/api/invitations/${token2}/accept`, {
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
        expect((await withKey(key.key, "GET", "/api/me")).status).toBe(401);
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
        const { body: key } = await makeKey(ida, ["account"]);
        expect(
          (await withKey(key.key, "PUT", "/api/me/password", { newPassword: next })).body,
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
        expect((await withKey(key.key, "GET", "/api/me")).status).toBe(200);
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
      const prompt = await ann.request<{ prompt: Prompt }>(
        "POST",
        `/api/sessions/${session.id}/prompts`,
        { content: "say a secret of Ann" },
      );
      const promptId = prompt.body.prompt.id;
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
      const listed = await ben.request("GET", "/api/sessions");
      expect(JSON.stringify(listed.body)).not.toContain(session.id);
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
      const { body } = await ann.request<{ token: string; scope: string }>(
        "POST",
        "/api/runners/tokens",
        { name: "anns" },
      );
      expect(body.scope).toBe(`user:${ann.userId}`);
      const org = await ann.request("POST", "/api/runners/tokens", { name: "x", scope: "org" });
      expect(org.status).toBe(403);
      const caller = await platform.server.auth.authenticate(body.token);
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
          gateway: { serverUrl: platform.url, token: body.token },
        },
        createInlineTransport(platform.server.kernel.dispatcher, caller.principal, log),
        log,
      );
      const start = (who: Pick<Browser, "request">) =>
        who.request<{ run: { id: string; state: string } }>("POST", "/api/runs", {
          type: "start_session",
          runtime: "scripted",
          prompt: "say hi",
          demands: { tags: ["anns"] },
        });
      const [theirs, own] = [await start(ben), await start(ann)];
      expect([theirs.status, own.status]).toEqual([201, 201]);
      await vi.waitFor(async () => {
        const now = await ann.request<{ run: { state: string } }>(
          "GET",
          `/api/runs/${own.body.run.id}`,
        );
        expect(now.body.run.state).toBe("completed");
      }, PATIENT);
      const still = await ben.request<{ run: { state: string } }>(
        "GET",
        `/api/runs/${theirs.body.run.id}`,
      );
      expect(still.body.run.state).toBe("pending");
      const names = async (who: Browser) =>
        JSON.stringify((await who.request("GET", "/api/runners")).body).includes('"anns"');
      expect([await names(ann), await names(ben)]).toEqual([true, false]);
      await runner.stop();
    });
  });
}

story("people on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a PostgreSQL server", () => {
  story("people on postgres", createTestDatabase);
});
