/**
 * A browser's session is bound to the page that opened it. Cookies go to every port of a host, so a
 * program on another port gets the cookie, and must gain nothing from it.
 */
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { liveProtocols, PAGE_KEY_HEADER, PERSON_HEADER, SIGNED_OUT } from "#protocol/page-key.ts";
import {
  cookieOf,
  inviteToken,
  join,
  PASSWORD,
  postAnonymously,
  upgradeStatus,
} from "#test/clients/people.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";

const newKey = () => randomBytes(24).toString("base64url");
const SAME_ORIGIN = { "sec-fetch-site": "same-origin" };

function story(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let platform: Platform;
    let made: TestDatabase | undefined;

    beforeAll(async () => {
      made = await database();
      platform = await startPlatform({
        runner: false,
        env: made ? { MUSTER_DATABASE_URL: made.url } : {},
      });
    });
    afterAll(async () => {
      await platform.stop();
      await made?.drop();
    });

    /** A signed-in page, as the browser would send its requests. */
    async function page(nameOfPerson: string) {
      const email = `${nameOfPerson.toLowerCase()}@example.org`;
      const pageKey = newKey();
      const token = await inviteToken(platform);
      const joined = await postAnonymously(
        platform,
        `/api/invitations/${token}/accept`,
        { name: nameOfPerson, email, password: PASSWORD },
        { ...SAME_ORIGIN, origin: platform.url, [PAGE_KEY_HEADER]: pageKey },
      );
      expect(joined.status).toBe(201);
      return { email, pageKey, cookie: cookieOf(joined) };
    }
    const get = (path: string, headers: Record<string, string>) =>
      fetch(platform.url + path, { headers }).then(({ status }) => status);

    it("opens everything for its page, and nothing without the page's key", async () => {
      const { cookie, pageKey } = await page("Ann");
      const own = { cookie, [PAGE_KEY_HEADER]: pageKey, ...SAME_ORIGIN };
      expect(await get("/api/me", own)).toBe(200);
      const secret = cookie.split("=")[1] ?? "";
      const stolen: Record<string, string>[] = [
        { cookie },
        { cookie, ...SAME_ORIGIN },
        { cookie, origin: platform.url },
        { cookie, [PAGE_KEY_HEADER]: newKey() },
        { cookie, [PAGE_KEY_HEADER]: "" },
        { authorization: `Bearer ${secret}` },
        { authorization: `Bearer ${secret}`, cookie },
      ];
      for (const headers of stolen) {
        expect(await get("/api/me", headers)).toBe(401);
        expect(await get("/api/sessions", headers)).toBe(401);
        expect(await get("/metrics", headers)).toBe(401);
        const from = { ...headers, origin: platform.url };
        expect(await upgradeStatus(platform, "/api/live", from)).toBe(401);
        const mcp = await postAnonymously(platform, "/mcp", {}, headers);
        expect(mcp.status).toBe(401);
        const out = await postAnonymously(platform, "/api/auth/sign-out", {}, from);
        expect(out.status).toBe(401);
      }
      // The API documentation is public and is opened as a page.
      expect(await get("/api/docs", { cookie })).toBe(200);
      expect(await get("/api/me", own)).toBe(200);
    });

    it("says that a signed-out browser was signed out, and says so of no other", async () => {
      const { cookie, pageKey } = await page("Amy");
      const headers = { cookie, [PAGE_KEY_HEADER]: pageKey, ...SAME_ORIGIN };
      const detailsOf = async (sent: Record<string, string>) => {
        const answer = await fetch(`${platform.url}/api/me`, { headers: sent });
        const { error } = (await answer.json()) as {
          error: { code: string; details?: { path: string }[] };
        };
        expect([answer.status, error.code]).toEqual([401, "unauthenticated"]);
        return error.details?.map(({ path }) => path);
      };
      const [name = ""] = cookie.split("=");
      expect(await detailsOf({ ...headers, cookie: `${name}=unknown` })).toBeUndefined();
      expect(await detailsOf({ cookie })).toBeUndefined();
      const from = { ...headers, origin: platform.url };
      expect((await postAnonymously(platform, "/api/auth/sign-out", {}, from)).status).toBe(200);
      expect(await detailsOf(headers)).toEqual([SIGNED_OUT]);
      // A revoked key is no browser.
      const secret = cookie.split("=")[1] ?? "";
      expect(await detailsOf({ authorization: `Bearer ${secret}` })).toBeUndefined();
    });

    it("sends no one's words under someone else's sign-in", async () => {
      const { cookie, pageKey } = await page("Alf");
      const headers = { cookie, [PAGE_KEY_HEADER]: pageKey, ...SAME_ORIGIN, origin: platform.url };
      const me = await fetch(`${platform.url}/api/me`, { headers });
      const { user } = (await me.json()) as { user: { id: string } };
      const made = await postAnonymously(platform, "/api/sessions", { runtime: "echo" }, headers);
      const { session } = made.body as unknown as { session: { id: string } };
      const send = (person: string) =>
        postAnonymously(
          platform,
          `/api/sessions/${session.id}/prompts`,
          { content: "mine" },
          { ...headers, [PERSON_HEADER]: person },
        );
      const foreign = await send("usr_somebody_else");
      expect([foreign.status, foreign.body.error?.code]).toEqual([409, "person_changed"]);
      expect((await send(user.id)).status).toBe(202);
    });

    it("is not hidden by a cookie of its name that another port has planted", async () => {
      const { cookie, pageKey } = await page("Abe");
      const { cookie: foreign } = await page("Ada");
      const [name = ""] = cookie.split("=");
      for (const planted of [`${name}=planted`, foreign]) {
        const headers = { cookie: `${planted}; ${cookie}`, ...SAME_ORIGIN };
        expect(await get("/api/me", { ...headers, [PAGE_KEY_HEADER]: pageKey })).toBe(200);
        expect(await get("/api/me", headers)).toBe(401);
      }
    });

    it("opens its socket with the key as a subprotocol, which is never sent back", async () => {
      const { cookie, pageKey } = await page("Bea");
      const socket = new WebSocket(
        `${platform.url.replace("http", "ws")}/api/live`,
        liveProtocols(pageKey),
        { headers: { cookie, origin: platform.url } },
      );
      await new Promise((resolve, reject) => {
        socket.once("open", resolve);
        socket.once("error", reject);
      });
      expect(socket.protocol).toBe("muster.live");
      const closed = new Promise((resolve) => socket.once("close", resolve));
      await fetch(`${platform.url}/api/auth/sign-out`, {
        method: "POST",
        headers: {
          cookie,
          origin: platform.url,
          "content-type": "application/json",
          [PAGE_KEY_HEADER]: pageKey,
        },
        body: "{}",
      });
      expect(await closed).toBe(4401);
    });

    it("cannot be ended by someone who has only the cookie and signs in themselves", async () => {
      const victim = await page("Cas");
      const { email } = await page("Dan");
      for (const headers of [{}, { [PAGE_KEY_HEADER]: newKey() }] as Record<string, string>[]) {
        const signedIn = await postAnonymously(
          platform,
          "/api/auth/sign-in",
          { email, password: PASSWORD },
          { ...headers, cookie: victim.cookie },
        );
        expect(signedIn.status).toBe(200);
      }
      const own = { cookie: victim.cookie, [PAGE_KEY_HEADER]: victim.pageKey };
      expect(await get("/api/me", own)).toBe(200);
    });

    it("is not accepted from a browser whose page did not open it", async () => {
      // Opened by a program, and planted in someone's browser from another port.
      const planted = (await join(platform, "Eve")).cookie;
      expect(await get("/api/me", { cookie: planted })).toBe(200);
      expect(await get("/api/me", { cookie: planted, ...SAME_ORIGIN })).toBe(401);
      const victimsKey = newKey();
      expect(await get("/api/me", { cookie: planted, [PAGE_KEY_HEADER]: victimsKey })).toBe(401);
      const attacker = await page("Fin");
      expect(await get("/api/me", { cookie: attacker.cookie, [PAGE_KEY_HEADER]: victimsKey })).toBe(
        401,
      );
    });

    it("is not opened for a browser that cannot be bound", async () => {
      const { email } = await page("Gus");
      const proof = { email, password: PASSWORD };
      const refused = await postAnonymously(platform, "/api/auth/sign-in", proof, SAME_ORIGIN);
      expect(refused).toMatchObject({ status: 400, body: { error: { code: "page_key_missing" } } });
      expect(refused.headers.get("set-cookie")).toBeNull();
      // Another port of this host is another page.
      for (const site of ["same-site", "cross-site"]) {
        const headers = { "sec-fetch-site": site, [PAGE_KEY_HEADER]: newKey() };
        const foreign = await postAnonymously(platform, "/api/auth/sign-in", proof, headers);
        expect(foreign).toMatchObject({
          status: 403,
          body: { error: { code: "origin_not_allowed" } },
        });
      }
    });

    it("survives a password change in its own page only", async () => {
      const { cookie, pageKey } = await page("Hal");
      const headers = {
        cookie,
        origin: platform.url,
        "content-type": "application/json",
        [PAGE_KEY_HEADER]: pageKey,
      };
      const body = JSON.stringify({
        currentPassword: PASSWORD,
        newPassword: "other horse battery",
      });
      const path = `${platform.url}/api/me/password`;
      const changed = await fetch(path, { method: "PUT", headers, body });
      expect(changed.status).toBe(200);
      const now = cookieOf(changed);
      expect(await get("/api/me", { cookie: now, [PAGE_KEY_HEADER]: pageKey })).toBe(200);
      expect(await get("/api/me", { cookie: now })).toBe(401);
      expect(await get("/api/me", { cookie, [PAGE_KEY_HEADER]: pageKey })).toBe(401);
    });
  });
}

story("a browser's session on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a PostgreSQL server", () =>
  story("a browser's session on postgres", () => createTestDatabase()),
);

describe("a sign-in link", () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await startPlatform({ runner: false });
  });
  afterAll(() => platform.stop());

  const tokenOf = ({ link }: { link?: string }) => new URL(link ?? "").hash.slice("#token=".length);

  it("says for whom it is before it is used, and if the page must ask", async () => {
    const inspect = (token: string) =>
      postAnonymously(platform, "/api/auth/links/inspect", { token });
    const owners = await platform.request<{ link: string }>("POST", "/api/auth/links", {});
    const ownersToken = tokenOf(owners.body);
    expect((await inspect(ownersToken)).body).toMatchObject({ needsConsent: false });
    const eve = await join(platform, "Eve");
    const made = await eve.request<{ link: string }>("POST", "/api/auth/links", {});
    const token = tokenOf(made.body);
    for (let n = 0; n < 2; n++)
      expect((await inspect(token)).body).toEqual({
        user: { id: eve.userId, name: "Eve" },
        current: null,
        needsConsent: true,
      });
    const { body } = await postAnonymously(
      platform,
      "/api/auth/links/inspect",
      { token },
      {
        cookie: eve.cookie,
      },
    );
    expect(body).toMatchObject({ current: { id: eve.userId } });
    const key = await eve.request<{ key: string }>("POST", "/api/me/api-keys", {
      name: "k",
      scopes: ["account"],
    });
    const byKey = await platform.request<{ link: string }>(
      "POST",
      "/api/auth/links",
      {},
      {
        authorization: `Bearer ${key.body.key}`,
      },
    );
    expect((await inspect(tokenOf(byKey.body))).body).toMatchObject({ needsConsent: true });
    expect((await postAnonymously(platform, "/api/auth/sign-in", { token })).status).toBe(200);
    expect(await inspect(token)).toMatchObject({
      status: 401,
      body: { error: { code: "sign_in_failed" } },
    });
    expect((await inspect("mst_link_none")).status).toBe(401);
  });
});

describe("over HTTPS", () => {
  it("cookies are tied to the host by their name, and the former name is dropped", async () => {
    const platform = await startPlatform({
      runner: false,
      env: { MUSTER_PUBLIC_URL: "https://muster.example" },
    });
    const { port } = platform.server.http;
    const url = `http://127.0.0.1:${port}`;
    const at = { ...platform, url };
    const key = await postAnonymously(
      at,
      "/api/auth/sign-in",
      { key: platform.key },
      {
        cookie: `muster_${port}=old`,
      },
    );
    const cookies = key.headers.getSetCookie();
    expect(cookies[0]).toMatch(
      new RegExp(
        `^__Host-muster_${port}=mst_web_[^;]+; Path=/; HttpOnly; SameSite=Strict; Secure;`,
      ),
    );
    expect(cookies[0]).not.toContain("Domain");
    expect(cookies).toContain(
      `muster_${port}=; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=0`,
    );
    const now = cookieOf(key);
    const me = (cookie: string) => fetch(`${url}/api/me`, { headers: { cookie } });
    expect((await me(now)).status).toBe(200);
    expect((await me(now.replace("__Host-", ""))).status).toBe(401);
    await platform.stop();
  });
});

describe("previews", () => {
  it("end with the rights of the person who made them", async () => {
    const platform = await startPlatform({ runner: false });
    const { orgId, ids } = await orgAndIds(platform);
    const ann = await join(platform, "Ann", "admin");
    const ways: [what: string, end: (who: typeof ann) => Promise<unknown>][] = [
      ["signed out", (who) => who.request("POST", "/api/auth/sign-out", {})],
      ["removed", (who) => platform.request("DELETE", `/api/orgs/${orgId}/members/${who.userId}`)],
    ];
    for (const [what, end] of ways) {
      const who = await join(platform, `Who${ids()}`);
      const session = await who.request<{ session: { id: string } }>("POST", "/api/sessions", {
        runtime: "echo",
      });
      const path = `/api/sessions/${session.body.session.id}/previews`;
      const preview = await who.request<{ url: string }>("POST", path, {});
      const seen = () => fetch(platform.url + preview.body.url).then(({ status }) => status);
      expect({ what, status: await seen() }).toEqual({ what, status: 200 });
      await end(who);
      expect({ what, status: await seen() }).toEqual({ what, status: 404 });
    }
    const key = await platform.request<{ apiKey: { id: string }; key: string }>(
      "POST",
      "/api/me/api-keys",
      { name: "k", scopes: ["sessions:read"] },
    );
    const session = await platform.createSession({ runtime: "echo" });
    const byKey = await platform.request<{ url: string }>(
      "POST",
      `/api/sessions/${session.id}/previews`,
      {},
      { authorization: `Bearer ${key.body.key}` },
    );
    const seen = () => fetch(platform.url + byKey.body.url).then(({ status }) => status);
    expect(await seen()).toBe(200);
    await platform.request("DELETE", `/api/me/api-keys/${key.body.apiKey.id}`);
    expect(await seen()).toBe(404);
    await platform.stop();
  });
});

async function orgAndIds(platform: Platform) {
  const { body } = await platform.request<{ org: { id: string } }>("GET", "/api/me");
  let count = 0;
  return { orgId: body.org.id, ids: () => ++count };
}

describe("another program on this machine", () => {
  it("gets the cookie from a browser's request, and can do nothing with it", async () => {
    const platform = await startPlatform({ runner: false });
    const heard: string[] = [];
    const listener = createServer((request, response) => {
      heard.push(request.headers.cookie ?? "");
      response.end();
    });
    await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
    const { port } = listener.address() as AddressInfo;
    const pageKey = newKey();
    const opened = await postAnonymously(
      platform,
      "/api/auth/sign-in",
      { key: platform.key },
      { ...SAME_ORIGIN, [PAGE_KEY_HEADER]: pageKey },
    );
    // A browser sends the cookie to every port of the same host.
    await fetch(`http://127.0.0.1:${port}/`, { headers: { cookie: cookieOf(opened) } });
    const cookie = heard[0] ?? "";
    expect(cookie).toContain("mst_web_");
    const me = await fetch(`${platform.url}/api/me`, { headers: { cookie } });
    expect(me.status).toBe(401);
    listener.close();
    await platform.stop();
  });
});
