/**
 * Revocation is complete: nothing stays open after a revoked key, a former admin or a former
 * member.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { WebSocket } from "ws";
import { createRunTokens } from "#engine/runs/runners/run-tokens.ts";
import type { RunnerToken } from "#features/auth/contract.ts";
import type { Prompt, Session } from "#protocol/sessions.ts";
import {
  ask,
  type Browser,
  browserOf,
  cookieOf,
  inviteToken,
  join,
  openSocket,
  orgOf,
  PASSWORD,
  postAnonymously,
  upgradeStatus,
} from "#test/clients/people.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";

const SECRET_KEY = "signs-the-tokens-of-this-very-test-run";
const PATIENT = { timeout: 15_000, interval: 25 };
const HOUR_MS = 3_600_000;

/** The reason sent at once; the periodic check uses other words. */
const DROPPED = "the token was revoked";

function closeReason(socket: WebSocket): Promise<string> {
  return new Promise((resolve) => socket.once("close", (_code, reason) => resolve(String(reason))));
}

interface MadeKey {
  apiKey: { id: string; expiresAt: string | null };
  key: string;
}
interface MadeToken {
  id: string;
  token: string;
}

function story(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let platform: Platform;
    let made: TestDatabase | undefined;
    let orgId: string;

    beforeAll(async () => {
      made = await database();
      const where = made ? { MUSTER_DATABASE_URL: made.url } : {};
      platform = await startPlatform({ env: { MUSTER_SECRET_KEY: SECRET_KEY, ...where } });
      ({ orgId } = await orgOf(platform));
    });
    afterAll(async () => {
      await platform.stop();
      await made?.drop();
    });

    const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
    const withKey = <T = Record<string, unknown>>(
      key: string,
      method: string,
      path: string,
      body?: unknown,
    ) => platform.request<T>(method, path, body, bearer(key));
    const makeKey = async (who: Pick<Browser, "request">, scopes: string[], fields: object = {}) =>
      (await who.request<MadeKey>("POST", "/api/me/api-keys", { name: "lent", scopes, ...fields }))
        .body;
    const member = (userId: string) => `/api/orgs/${orgId}/members/${userId}`;
    const connects = (token: string) =>
      upgradeStatus(platform, "/api/runners/connect", bearer(token));
    const tokens = async (who: Pick<Browser, "request"> = platform) =>
      (await who.request<{ items: RunnerToken[] }>("GET", "/api/runners/tokens")).body.items;
    const browserBy = async (userId: string, proof: object) =>
      browserOf(
        platform,
        userId,
        "",
        cookieOf(await postAnonymously(platform, "/api/auth/sign-in", proof)),
      );

    describe("a revoked or expired key", () => {
      const SCOPES = ["account", "runners", "sessions:read"];

      it.each(["key", "link"])(
        "leaves nothing valid that was made in a browser opened by its %s",
        async (way) => {
          const ann = await join(platform, `Ann${way}`);
          const expiresAt = new Date(Date.now() + HOUR_MS).toISOString();
          const lent = await makeKey(ann, SCOPES, { expiresAt });
          const { body } = await withKey<{ link: string }>(lent.key, "POST", "/api/auth/links", {});
          const token = new URL(body.link).hash.slice("#token=".length);
          const browser = await browserBy(
            ann.userId,
            way === "key" ? { key: lent.key } : { token },
          );
          const spare = await makeKey(browser, SCOPES);
          expect(spare.apiKey.expiresAt).toBe(expiresAt);
          // And further: a browser by a link from that browser, a key made there, a machine.
          const link = await browser.request<{ link: string }>("POST", "/api/auth/links", {});
          const next = new URL(link.body.link).hash.slice("#token=".length);
          const second = await browserBy(ann.userId, { token: next });
          const third = await makeKey(second, SCOPES);
          expect(third.apiKey.expiresAt).toBe(expiresAt);
          const machine = await withKey<MadeToken>(third.key, "POST", "/api/runners/tokens", {
            name: "m",
          });
          expect((await tokens(ann))[0]).toMatchObject({ id: machine.body.id, expiresAt });
          const cookies = [browser, second].map(
            async ({ request }) => (await request("GET", "/api/me")).status,
          );
          expect(await Promise.all(cookies)).toEqual([200, 200]);
          expect(await connects(machine.body.token)).toBe(101);

          await ann.request("DELETE", `/api/me/api-keys/${lent.apiKey.id}`);
          for (const { key } of [spare, third])
            expect((await withKey(key, "GET", "/api/me")).status).toBe(401);
          for (const who of [browser, second])
            expect((await who.request("GET", "/api/me")).status).toBe(401);
          expect(await connects(machine.body.token)).toBe(401);
          expect((await ann.request("GET", "/api/me")).status).toBe(200);
        },
      );

      it("leaves no browser that outlives it", async () => {
        const ben = await join(platform, "Ben");
        const expiresAt = new Date(Date.now() + HOUR_MS).toISOString();
        const lent = await makeKey(ben, SCOPES, { expiresAt });
        const { body } = await withKey<{ link: string }>(lent.key, "POST", "/api/auth/links", {});
        const token = new URL(body.link).hash.slice("#token=".length);
        for (const proof of [{ token }, { key: lent.key }]) {
          const opened = await postAnonymously(platform, "/api/auth/sign-in", proof);
          const until = /Expires=([^;]+)/.exec(opened.headers.get("set-cookie") ?? "")?.[1] ?? "";
          expect(Date.parse(until)).toBeLessThanOrEqual(Date.parse(expiresAt));
        }
      });

      it("makes nothing through another server that has not heard of it yet", async () => {
        const cy = await join(platform, "Cy");
        const lent = await makeKey(cy, SCOPES);
        const caller = await platform.server.auth.authenticate(lent.key);
        if (caller?.principal.kind !== "user") throw new Error("not a person's key");
        await cy.request("DELETE", `/api/me/api-keys/${lent.apiKey.id}`);
        // As a server would that has cached the key for a moment.
        const late = { name: "late", scopes: ["account"] };
        await expect(
          platform.server.auth.createApiKey(caller.principal, caller, late),
        ).rejects.toMatchObject({ code: "unauthenticated" });
      });

      it("makes nothing while it is being revoked", async () => {
        const dee = await join(platform, "Dee");
        for (let round = 0; round < 8; round++) {
          const lent = await makeKey(dee, SCOPES);
          const caller = await platform.server.auth.authenticate(lent.key);
          if (caller?.principal.kind !== "user") throw new Error("not a person's key");
          const { principal } = caller;
          const late = { name: "late", scopes: ["account"] };
          const [spare] = await Promise.allSettled([
            platform.server.auth.createApiKey(principal, caller, late),
            dee.request("DELETE", `/api/me/api-keys/${lent.apiKey.id}`),
          ]);
          if (spare.status === "rejected") continue;
          expect(await platform.server.auth.authenticate(spare.value.key)).toBeUndefined();
        }
      });
    });

    describe("runner tokens", () => {
      it("are listed before they are used, and revoked with their connections", async () => {
        const [dan, eli] = [await join(platform, "Dan"), await join(platform, "Eli")];
        const { body } = await dan.request<MadeToken>("POST", "/api/runners/tokens", {
          name: "dans",
          tags: ["gpu"],
        });
        expect(await tokens(dan)).toMatchObject([
          {
            id: body.id,
            name: "dans",
            scope: `user:${dan.userId}`,
            tags: ["gpu"],
            lastUsedAt: null,
          },
        ]);
        expect(JSON.stringify(await tokens(dan))).not.toContain(body.token);
        expect(await tokens(eli)).toEqual([]);
        expect((await tokens()).map(({ id }) => id)).toContain(body.id);
        const path = `/api/runners/tokens/${body.id}`;
        expect((await eli.request("DELETE", path)).status).toBe(404);
        // A key for the account only cannot remove machines that serve everyone.
        const narrow = await makeKey(platform, ["account", "runners"]);
        expect((await withKey(narrow.key, "DELETE", path)).status).toBe(404);
        const socket = await openSocket(platform, "/api/runners/connect", bearer(body.token));
        const closed = closeReason(socket);
        expect((await dan.request("DELETE", path)).status).toBe(200);
        expect(await closed).toBe(DROPPED);
        expect(await connects(body.token)).toBe(401);
        expect(await tokens(dan)).toEqual([]);
        expect((await dan.request("DELETE", path)).status).toBe(404);
        // Nor can this route remove other credentials.
        const key = await makeKey(dan, ["mail"]);
        const other = await dan.request("DELETE", `/api/runners/tokens/${key.apiKey.id}`);
        expect(other.status).toBe(404);
      });

      it.each([
        ["is removed", "DELETE", undefined],
        ["is made a member", "PATCH", { role: "member" }],
      ])("for everybody go when the admin who made them %s", async (how, method, body) => {
        const fay = await join(platform, `Fay${how.length}`, "admin");
        const own = await fay.request<MadeToken>("POST", "/api/runners/tokens", { name: "own" });
        const { key } = await makeKey(fay, ["account", "runners", "admin"]);
        const byKey = await withKey<MadeToken>(key, "POST", "/api/runners/tokens", { name: "k" });
        const others = await platform.request<MadeToken>("POST", "/api/runners/tokens", {
          name: "others",
        });
        const sockets: WebSocket[] = [];
        for (const { token } of [own.body, byKey.body])
          sockets.push(await openSocket(platform, "/api/runners/connect", bearer(token)));
        const closed = Promise.all(sockets.map(closeReason));
        expect((await platform.request(method, member(fay.userId), body)).status).toBe(200);
        expect(await closed).toEqual([DROPPED, DROPPED]);
        for (const { token } of [own.body, byKey.body]) expect(await connects(token)).toBe(401);
        const left = (await tokens()).map(({ id }) => id);
        expect(left).toContain(others.body.id);
        expect(left).not.toContain(own.body.id);
        expect(left).not.toContain(byKey.body.id);
        // The server's own machine belongs to nobody.
        expect(await tokens()).toContainEqual(expect.objectContaining({ name: "this machine" }));
        const session = await platform.createSession();
        const { id } = await platform.prompt(session.id, "say still here");
        await platform.promptIn(id, "settled");
      });
    });

    describe("a person who has left", () => {
      it("has no agent that works on, even for a moment", async () => {
        const gus = await join(platform, "Gus");
        const { body } = await gus.request<{ session: Session }>("POST", "/api/sessions", {
          runtime: "scripted",
        });
        const path = `/api/sessions/${body.session.id}`;
        const sent = await gus.request<{ prompt: Prompt }>("POST", `${path}/prompts`, {
          content: "say one\nhang",
        });
        const run = async () =>
          (
            await platform.server.kernel.engine.store.read((reader) =>
              reader.query<{ state: string; fence: number }>({
                sql: `select state, fence from runs where id = '${sent.body.prompt.runId}'`,
                parameters: [],
              } as never),
            )
          )[0];
        await vi.waitFor(async () => expect((await run())?.state).toBe("running"), PATIENT);
        const ref = { runId: sent.body.prompt.runId ?? "", fence: Number((await run())?.fence) };
        const token = createRunTokens(SECRET_KEY).mint(ref);
        const asAgent = async (method = "GET", where = path, content?: object) =>
          (await withKey(token, method, where, content)).status;
        expect(await asAgent()).toBe(200);
        expect(await asAgent("POST", "/api/auth/sign-out", {})).toBe(403);
        expect(await asAgent()).toBe(200);
        await platform.server.kernel.engine.store.transaction((tx) =>
          tx.execute({
            sql: `update users set removed_at = 1 where id = '${gus.userId}'`,
            parameters: [],
          }),
        );
        // The turn is still held: it has not even been told to stop.
        expect((await run())?.state).toBe("running");
        expect(await asAgent()).toBe(401);
        await platform.server.kernel.engine.store.transaction((tx) =>
          tx.execute({
            sql: `update users set removed_at = null where id = '${gus.userId}'`,
            parameters: [],
          }),
        );
        platform.server.auth.forget();
        // A waiting run has no holder, whatever its state and fence say.
        await platform.server.kernel.engine.store.transaction((tx) =>
          tx.execute({
            sql: `update runs set lease_until = null where id = '${ref.runId}'`,
            parameters: [],
          }),
        );
        expect(await asAgent()).toBe(401);
        expect((await platform.request("DELETE", member(gus.userId))).status).toBe(200);
        // It was told to stop before the answer to the removal went out.
        expect(["stopping", "stopped", "failed"]).toContain((await run())?.state);
      });

      it("leaves nothing to the next holder of their address, and returns without their allow rules", async () => {
        const mal = await join(platform, "Mallory");
        const ceo = "ceo@example.org";
        const claim = { currentPassword: PASSWORD, newPassword: PASSWORD, email: ceo };
        const claimed = await mal.request("PUT", "/api/me/password", claim);
        const who = browserOf(platform, mal.userId, ceo, cookieOf(claimed));
        const rule = { tool: "bash", pattern: "*" };
        await who.request("POST", "/api/policy/rules", { ...rule, effect: "allow" });
        await who.request("POST", "/api/policy/rules", { ...rule, effect: "deny" });
        // While someone claims the address, the admin is told who.
        const invited = await platform.request("POST", `/api/orgs/${orgId}/invitations`, {
          email: ceo,
        });
        expect(invited).toMatchObject({
          status: 409,
          body: {
            error: {
              code: "email_taken",
              message: expect.stringContaining(`Mallory (${mal.userId})`),
            },
          },
        });
        await platform.request("DELETE", member(mal.userId));
        const accept = async (fields: object, email: string) => {
          const token = await inviteToken(platform, fields);
          const person = { name: "Chief", email, password: PASSWORD };
          const joined = await postAnonymously(
            platform,
            `/api/invitations/${token}/accept`,
            person,
          );
          const { id = "" } = joined.body.user ?? {};
          return { joined, browser: browserOf(platform, id, email, cookieOf(joined)) };
        };
        const rulesOf = async ({ request }: Browser) =>
          (
            await request<{ items: { level: string; effect: string }[] }>("GET", "/api/policy")
          ).body.items.filter(({ level }) => level === "user");
        const fresh = await accept({ email: ceo }, ceo);
        expect(fresh.joined.status).toBe(201);
        expect(fresh.browser.userId).not.toBe(mal.userId);
        expect(await rulesOf(fresh.browser)).toEqual([]);
        // A former member has no address; the admin names the one they may return with.
        const path = `/api/orgs/${orgId}/invitations`;
        const none = await platform.request("POST", path, { userId: mal.userId });
        expect(none.body).toMatchObject({ error: { code: "email_missing" } });
        for (const userId of ["usr_none", fresh.browser.userId])
          expect((await platform.request("POST", path, { userId, email: "x@y.org" })).status).toBe(
            404,
          );
        const fields = { userId: mal.userId, email: "mal@example.org" };
        const other = await accept(fields, "somebody@example.org");
        expect(other.joined.body.error?.code).toBe("email_not_invited");
        const back = await accept(fields, "mal@example.org");
        expect(back.browser.userId).toBe(mal.userId);
        expect(await rulesOf(back.browser)).toMatchObject([{ effect: "deny" }]);
      });

      it("gets no invitation while they are being purged", async () => {
        const ned = await join(platform, "Ned");
        await platform.request("DELETE", member(ned.userId));
        const token = await inviteToken(platform, { userId: ned.userId });
        await platform.request("POST", `${member(ned.userId)}/purge`, { confirm: "Ned" });
        const person = { name: "Ned", email: ned.email, password: PASSWORD };
        const late = await postAnonymously(platform, `/api/invitations/${token}/accept`, person);
        expect(late.body.error?.code).toBe("invitation_not_valid");
        const again = await platform.request("POST", `/api/orgs/${orgId}/invitations`, {
          userId: ned.userId,
          email: ned.email,
        });
        expect(again.status).toBe(404);
      });
    });

    it("a narrow key follows only what it may read, and nobody is sent a secret's name", async () => {
      const ora = await join(platform, "Ora");
      const heard = async (scopes: string[]) => {
        const { key } = await makeKey(ora, scopes);
        const socket = await openSocket(platform, "/api/live", bearer(key));
        await ask(socket, { op: "subscribe", topic: "me" });
        await ask(socket, { op: "subscribe", topic: "runners" });
        const types = new Set<string>();
        let text = "";
        socket.on("message", (data) => {
          text += String(data);
          types.add((JSON.parse(String(data)) as { type: string }).type);
        });
        return { socket, types, text: () => text };
      };
      const mail = await heard(["mail"]);
      const reads = await heard(["sessions:read"]);
      const secrets = await heard(["secrets"]);
      await ora.request("PUT", "/api/me/secrets/PAYROLL_DB_PASSWORD", { value: "12345678901" });
      await ora.request("POST", "/api/sessions", { runtime: "echo" });
      platform.server.kernel.engine.announcer.hint("runners", "runner", "rnr_1");
      await vi.waitFor(() => {
        expect(reads.types).toEqual(new Set(["session", "runner"]));
        expect(secrets.types).toEqual(new Set(["secret"]));
      }, PATIENT);
      expect(mail.types).toEqual(new Set());
      for (const { socket, text } of [mail, reads, secrets]) {
        expect(text()).not.toContain("PAYROLL");
        socket.terminate();
      }
    });
  });
}

story("spares on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a PostgreSQL server", () => {
  story("spares on postgres", createTestDatabase);
});
