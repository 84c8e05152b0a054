/** Attacks on signing in through a service. None may succeed, and each gets a reason. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { cookieOf, inviteToken, join, PASSWORD, postAnonymously } from "#test/clients/people.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import {
  type Account,
  CLIENT_ID,
  type Lies,
  type SignInServer,
  startSignInServer,
} from "#test/sign-in-server/sign-in-server.ts";
import { Traveller } from "#test/sign-in-server/traveller.ts";

const ANN: Account = {
  subject: "4711",
  login: "ann",
  name: "Ann",
  email: "ann@example.org",
  isVerified: true,
};
const EVE: Account = { ...ANN, subject: "666", login: "eve", name: "Eve", email: "e@example.org" };

const EXPIRED = "/sign-in?problem=sign_in_expired";
const NOT_CONFIRMED = "/sign-in?problem=identity_not_confirmed";
const UNAVAILABLE = "/sign-in?problem=provider_unavailable";

describe("signing in through a service", () => {
  let platform: Platform;
  let server: SignInServer;
  const logLines: string[] = [];

  beforeAll(async () => {
    server = await startSignInServer();
    platform = await startPlatform({
      runner: false,
      env: { ...server.env, MUSTER_LOG_LEVEL: "warn" },
      logLines,
    });
    for (const account of [ANN, EVE])
      for (const provider of ["github", "oidc"] as const) {
        const email = `${provider}-${account.login}@example.org`;
        const token = await inviteToken(platform);
        const landed = await traveller().join(provider, { ...account, email }, token);
        expect(landed.location).toBe("/");
      }
  });
  afterEach(() => {
    server.lies = {};
  });
  afterAll(async () => {
    await platform.stop();
    await server.close();
  });

  const traveller = (cookie?: string) => new Traveller(platform, server, cookie);
  /** Nobody got a cookie that opens anything. */
  const expectNobody = (landed: { setCookies: string[] }) =>
    expect(landed.setCookies.join()).not.toContain("mst_web_");

  describe("refuses a state", () => {
    it("that is made up, missing, or given twice", async () => {
      const browser = traveller();
      const back = server.approve((await browser.start("github")).location, ANN);
      const state = back.searchParams.get("state") ?? "";
      for (const wrong of [`${state}x`, "mst_state_none", "", "x".repeat(300)]) {
        const url = new URL(back);
        url.searchParams.set("state", wrong);
        const landed = await browser.visit(url);
        expect(landed.location).toBe(EXPIRED);
        expectNobody(landed);
        expect(landed.setCookies).toEqual([]);
      }
      const none = new URL(back);
      none.searchParams.delete("state");
      expect((await browser.visit(none)).location).toBe(EXPIRED);
      const twice = new URL(back);
      twice.searchParams.append("state", state);
      expect((await browser.visit(twice)).location).toBe(EXPIRED);
      // None of them has spoilt the sign-in in progress.
      expect((await browser.visit(back)).location).toBe("/");
    });

    it("that is too old: each tab returns by itself, and only six are kept", async () => {
      const browser = traveller();
      const [one, two] = [await browser.start("github"), await browser.start("oidc")];
      expect((await browser.visit(server.approve(two.location, ANN))).location).toBe("/");
      expect((await browser.visit(server.approve(one.location, ANN))).location).toBe("/");
      const flows = () => [...browser.cookies.keys()].filter((name) => name.includes("_flow_"));
      expect(flows()).toEqual([]);
      const away: string[] = [];
      for (let i = 0; i < 9; i++) away.push((await browser.start("github")).location);
      expect(flows()).toHaveLength(6);
      expect((await browser.visit(server.approve(away[0] ?? "", ANN))).location).toBe(EXPIRED);
      expect((await browser.visit(server.approve(away[8] ?? "", ANN))).location).toBe("/");
    });

    it("of another browser: Eve's answer does not sign Ann in as Eve", async () => {
      const eve = traveller();
      const back = server.approve((await eve.start("github")).location, EVE);
      for (const ann of [traveller(), await begun()]) {
        const landed = await ann.visit(back);
        expect(landed.location).toBe(EXPIRED);
        expectNobody(landed);
      }
      // Eve's own sign-in still works.
      expect((await eve.visit(back)).location).toBe("/");
    });

    it("that was used: the same answer does nothing again", async () => {
      const browser = traveller();
      const back = server.approve((await browser.start("github")).location, ANN);
      const { cookie } = browser;
      expect((await browser.visit(back)).location).toBe("/");
      const again = await traveller(
        cookie.split("; ").find((part) => part.includes("_flow_")),
      ).visit(back);
      expect(again.location).toBe(EXPIRED);
      expectNobody(again);
    });

    it("of the other service", async () => {
      const browser = traveller();
      const back = server.approve((await browser.start("github")).location, ANN);
      const mixed = new URL(String(back).replace("/github/", "/oidc/"));
      expect((await browser.visit(mixed)).location).toBe(EXPIRED);
    });

    async function begun(): Promise<Traveller> {
      const browser = traveller();
      await browser.start("github");
      return browser;
    }
  });

  it("refuses a code that was used, made up, or intercepted from another sign-in", async () => {
    for (const provider of ["github", "oidc"] as const) {
      const first = traveller();
      const back = server.approve((await first.start(provider)).location, ANN);
      const code = back.searchParams.get("code") ?? "";
      expect((await first.visit(back)).location).toBe("/");
      // Intercepted before it was used: PKCE ties it to the browser that began.
      const eve = traveller();
      const annsUnused = server.approve((await traveller().start(provider)).location, ANN);
      for (const wrong of [code, "made-up", annsUnused.searchParams.get("code") ?? ""]) {
        const own = server.approve((await eve.start(provider)).location, EVE);
        own.searchParams.set("code", wrong);
        const landed = await eve.visit(own);
        expect(landed.location).toBe(NOT_CONFIRMED);
        expectNobody(landed);
      }
    }
  });

  const badTokens: [string, () => Lies][] = [
    ["of another round", () => ({ claims: { nonce: "another" } })],
    ["of no round", () => ({ claims: { nonce: undefined } as never })],
    ["for another client", () => ({ claims: { aud: "another-client" } })],
    ["for several, by another", () => ({ claims: { aud: [CLIENT_ID, "x"], azp: "x" } })],
    ["for several, by nobody", () => ({ claims: { aud: [CLIENT_ID, "x"] } })],
    ["for us, by another", () => ({ claims: { azp: "x" } })],
    ["of another issuer", () => ({ claims: { iss: "https://evil.example" } })],
    ["of almost the issuer", () => ({ claims: { iss: `${server.issuer}/` } })],
    ["that is over", () => ({ expired: true })],
    ["that never ends", () => ({ claims: { exp: undefined } as never })],
    ["that is not good yet", () => ({ claims: { nbf: Math.floor(Date.now() / 1_000) + 600 } })],
    ["without a subject", () => ({ claims: { sub: undefined } as never })],
    ["with an empty subject", () => ({ claims: { sub: "" } })],
    ["with a subject that is a number", () => ({ claims: { sub: 4711 } as never })],
    ["that nobody signed", () => ({ signature: "none" })],
    ["with a garbled signature", () => ({ signature: "garbled" })],
    ["signed with the public key as a secret", () => ({ signature: "public-key-as-secret" })],
    ["signed by somebody else", () => ({ signature: "foreign-key" })],
    ["signed with a key that is not there", () => ({ signature: "unknown-key-id" })],
  ];
  it.each(badTokens)("refuses an ID token %s", async (_name, lies) => {
    server.lies = lies();
    const landed = await traveller().signIn("oidc", ANN);
    expect(landed.location).toBe(NOT_CONFIRMED);
    expectNobody(landed);
  });

  it("refuses an answer that names another issuer", async () => {
    const browser = traveller();
    const back = server.approve((await browser.start("oidc")).location, ANN);
    back.searchParams.set("iss", "https://evil.example");
    expect((await browser.visit(back)).location).toBe(NOT_CONFIRMED);
  });

  it("says so when the person declines at the service", async () => {
    const browser = traveller();
    const back = server.approve((await browser.start("github")).location, ANN);
    back.searchParams.delete("code");
    back.searchParams.set("error", "access_denied");
    back.searchParams.set("error_description", "<script>alert(1)</script>");
    expect((await browser.visit(back)).location).toBe("/sign-in?problem=sign_in_cancelled");
  });

  const broken: [path: RegExp, provider: "github" | "oidc"][] = [
    [/access_token$/, "github"],
    [/\/user$/, "github"],
    [/\/oidc\/token$/, "oidc"],
  ];
  it.each(broken)("survives a service that answers wrongly at %s", async (path, provider) => {
    for (const how of ["huge", "redirect", "error"] as const) {
      server.lies = { broken: { path, how } };
      const landed = await traveller().signIn(provider, ANN);
      expect(landed.location).toBe(UNAVAILABLE);
      expectNobody(landed);
    }
    server.lies = { broken: { path, how: "no-json" } };
    expect((await traveller().signIn(provider, ANN)).location).toBe(NOT_CONFIRMED);
  });

  it("redirects nobody to another site afterwards", async () => {
    const places = [
      "https://evil.example",
      "//evil.example",
      "/\\evil.example",
      "/%09/evil.example",
      "/\t/evil.example",
      "\\/evil.example",
      "/..//evil.example",
      "/.//evil.example",
      "http:evil.example",
      "javascript:alert(1)",
      "/a\r\nSet-Cookie: x=1",
      "/api/auth/github/start",
      "/API/../api/x",
      `/${"x".repeat(600)}`,
      "",
    ];
    for (const place of places) {
      const landed = await traveller().signIn("github", ANN, `?next=${encodeURIComponent(place)}`);
      const where = new URL(landed.location, platform.url);
      expect({ place, origin: where.origin }).toEqual({
        place,
        origin: new URL(platform.url).origin,
      });
      expect(landed.location).toMatch(/^\/(?!\/|\\|api\/)/);
      expect(landed.setCookies.join()).not.toContain("x=1");
    }
    const good = await traveller().signIn("github", ANN, "?next=%2Fsettings%2Fkeys%3Fa%3D1%23b");
    expect(good.location).toBe("/settings/keys?a=1#b");
  });

  it("sends browsers back to the server's own address, whatever a request says", async () => {
    const response = await fetch(`${platform.url}/api/auth/github/start`, {
      redirect: "manual",
      headers: { "x-forwarded-host": "evil.example", forwarded: "host=evil.example" },
    });
    const url = new URL(response.headers.get("location") ?? "");
    expect(url.searchParams.get("redirect_uri")).toBe(`${platform.url}/api/auth/github/callback`);
    // The code is worth nothing at another address.
    url.searchParams.set("redirect_uri", "https://evil.example/callback");
    const browser = traveller();
    const away = new URL((await browser.start("github")).location);
    away.searchParams.set("redirect_uri", `${platform.url}/api/auth/github/callback?x=1`);
    const landed = await browser.visit(server.approve(String(away), ANN));
    expect(landed.location).toBe(NOT_CONFIRMED);
  });

  it("replaces a cookie that was planted before", async () => {
    const planted = traveller();
    await planted.signIn("github", EVE);
    const { cookie } = planted;
    expect(await traveller(cookie).me()).toBeDefined();
    const ann = traveller(cookie);
    expect((await ann.signIn("github", ANN)).location).toBe("/");
    expect(ann.cookie).not.toBe(cookie);
    expect(await traveller(cookie).me()).toBeUndefined();
    const flow = traveller();
    const away = await flow.start("github");
    expect(away.setCookies.join()).toMatch(
      /_flow_[0-9a-f]{12}=mst_flow_[\w-]{32}; Path=\/api\/auth; HttpOnly; SameSite=Lax; Max-Age=600$/,
    );
  });

  it("has no routes for a service that is not configured", async () => {
    for (const provider of ["gitlab", "GitHub", "__proto__", "constructor"])
      for (const what of ["start", "callback"]) {
        const response = await fetch(`${platform.url}/api/auth/${provider}/${what}`);
        expect(response.status).toBe(404);
      }
  });

  it("logs the reason, and no secret", () => {
    const text = logLines.join("\n");
    for (const why of [
      "expiration is past current timestamp",
      'unexpected JWT \\"alg\\" header parameter',
      "JWT signature verification failed",
      "no applicable keys found",
      'unexpected ID Token \\"nonce\\" claim value',
      "bad_verification_code",
      "invalid_grant",
      "wants to send us elsewhere",
      "more than 524288 bytes",
    ])
      expect(text).toContain(why);
    expect(text).not.toMatch(/s3cret|mst_|code=|eyJ|Bearer/);
  });
});

describe("an unavailable service", () => {
  it("is reported on the sign-in page, and other services still work", async () => {
    const server = await startSignInServer();
    const platform = await startPlatform({ runner: false, env: server.env });
    const browser = new Traveller(platform, server);
    const back = server.approve((await browser.start("github")).location, ANN);
    await server.goAway();
    expect((await browser.visit(back)).location).toBe(UNAVAILABLE);
    // Trying again counts against nobody.
    for (let i = 0; i < 60; i++) {
      const again = server.approve((await browser.start("github")).location, ANN);
      expect((await browser.visit(again)).location).toBe(UNAVAILABLE);
    }
    // GitHub's page is reached without a request to it; an OpenID provider's needs its document.
    const landed = await browser.start("oidc");
    expect(landed).toMatchObject({ status: 302, location: UNAVAILABLE });
    const joining = await browser.post("/api/auth/oidc/start", { invitation: "mst_inv_x" });
    expect(joining).toMatchObject({
      status: 503,
      body: { error: { code: "provider_unavailable" } },
    });
    const ann = await join(platform, "Ann");
    expect((await ann.request("GET", "/api/me")).status).toBe(200);
    await platform.stop();
  });

  it("is not asked again when it names another issuer or is unencrypted", async () => {
    const server = await startSignInServer();
    const platform = await startPlatform({ runner: false, env: server.env });
    server.lies = { document: { issuer: "https://evil.example" } };
    // A failure is cached for a moment, so that strangers cannot make us ask repeatedly.
    for (let i = 0; i < 3; i++)
      expect((await new Traveller(platform, server).start("oidc")).location).toBe(UNAVAILABLE);
    expect(server.asked.filter((path) => path.includes("well-known"))).toHaveLength(1);
    await platform.stop();
    await server.close();
  });
});

describe("too many answers", () => {
  const LOCKED = "/sign-in?problem=sign_in_locked";
  let platform: Platform;
  let server: SignInServer;
  beforeAll(async () => {
    server = await startSignInServer();
    const env = { ...server.env, MUSTER_TRUSTED_PROXY: "1" };
    platform = await startPlatform({ runner: false, env });
    const token = await inviteToken(platform);
    expect((await new Traveller(platform, server).join("github", ANN, token)).location).toBe("/");
  });
  afterAll(async () => {
    await platform.stop();
    await server.close();
  });
  /** A browser behind a proxy on this machine. */
  const from = (address: string) => new Traveller(platform, server, undefined, address);

  it("that are unsolicited or declined lock nobody out", async () => {
    const asked = server.asked.length;
    for (let i = 0; i < 55; i++) {
      const landed = await from("1.1.1.1").visit(
        `${platform.url}/api/auth/github/callback?state=x`,
      );
      expect(landed.location).toBe(EXPIRED);
    }
    const browser = from("1.1.1.1");
    for (let i = 0; i < 55; i++) {
      const state = new URL((await browser.start("github")).location).searchParams.get("state");
      const no = `${platform.url}/api/auth/github/callback?state=${state}&error=access_denied`;
      expect((await browser.visit(no)).location).toBe("/sign-in?problem=sign_in_cancelled");
    }
    expect(server.asked.length).toBe(asked);
    expect((await from("1.1.1.1").signIn("github", ANN)).location).toBe("/");
  });

  it("that are wrong lock their address out, and no other behind the same proxy", async () => {
    const guess = async (browser: Traveller) => {
      const back = server.approve((await browser.start("github")).location, ANN);
      back.searchParams.set("code", "made-up");
      return (await browser.visit(back)).location;
    };
    for (let i = 0; i < 50; i++) expect(await guess(from("2.2.2.2"))).toBe(NOT_CONFIRMED);
    expect(await guess(from("2.2.2.2"))).toBe(LOCKED);
    // A browser's own claim counts for nothing: the proxy's entry comes last.
    expect(await guess(from("3.3.3.3, 2.2.2.2"))).toBe(LOCKED);
    expect((await from("4.4.4.4").signIn("github", ANN)).location).toBe("/");
  });
});

describe("linking", () => {
  let platform: Platform;
  let server: SignInServer;
  beforeAll(async () => {
    server = await startSignInServer();
    platform = await startPlatform({ runner: false, env: server.env });
  });
  afterAll(async () => {
    await platform.stop();
    await server.close();
  });
  const traveller = (cookie?: string) => new Traveller(platform, server, cookie);

  it("requires a person at a browser with full rights", async () => {
    const fay = await join(platform, "Fay");
    const made = await fay.request<{ key: string }>("POST", "/api/me/api-keys", {
      name: "k",
      scopes: ["account"],
    });
    const authorization = `Bearer ${made.body.key}`;
    const path = "/api/auth/github/link";
    const body = { currentPassword: PASSWORD };
    const byKey = await platform.request("POST", path, body, { authorization });
    expect(byKey).toMatchObject({ status: 403, body: { error: { code: "sign_in_needed" } } });
    // A browser opened with a key has no more rights than the key.
    const link = await platform.request<{ link: string }>(
      "POST",
      "/api/auth/links",
      {},
      {
        authorization,
      },
    );
    const token = new URL(link.body.link).hash.slice("#token=".length);
    const opened = await postAnonymously(platform, "/api/auth/sign-in", { token });
    const browser = traveller(cookieOf(opened));
    expect(await browser.post(path, body)).toMatchObject({
      status: 403,
      body: { error: { code: "sign_in_needed" } },
    });
    const owner = await platform.request("POST", path, {});
    expect(owner.status).toBe(403);
  });

  it("cannot be started by a link, nor finished after signing out", async () => {
    const guy = await join(platform, "Guy");
    const browser = traveller(guy.cookie);
    const forged = await browser.visit(`${platform.url}/api/auth/github/link`);
    expect(forged.status).toBe(404);
    const account = { ...ANN, subject: "9001" };
    const { body } = await browser.post("/api/auth/github/link", { currentPassword: PASSWORD });
    await browser.request("GET", "/api/me");
    await guy.request("POST", "/api/auth/sign-out", {});
    const landed = await browser.visit(server.approve(body.url, account));
    expect(landed.location).toBe("/settings/sign-in?problem=sign_in_needed");
    const later = await traveller().signIn("github", account);
    expect(later.location).toBe("/sign-in?problem=account_unknown");
  });

  it("does not let a narrow browser set a password either", async () => {
    const { browser: key } = await narrowBrowser();
    const response = await fetch(`${platform.url}/api/me/password`, {
      method: "PUT",
      headers: { cookie: key.cookie, origin: platform.url, "content-type": "application/json" },
      body: JSON.stringify({ newPassword: "another long password" }),
    });
    expect(response.status).toBe(403);
  });

  /** A browser of a person without a password, opened with a key for the account only. */
  async function narrowBrowser() {
    const whole = traveller();
    await whole.join("github", ANN, await inviteToken(platform));
    const made = await whole.post<{ key: string }>("/api/me/api-keys", {
      name: "k",
      scopes: ["account"],
    });
    const authorization = `Bearer ${made.body.key}`;
    const { body } = await platform.request<{ link: string }>(
      "POST",
      "/api/auth/links",
      {},
      {
        authorization,
      },
    );
    const token = new URL(body.link).hash.slice("#token=".length);
    return {
      browser: traveller(cookieOf(await postAnonymously(platform, "/api/auth/sign-in", { token }))),
    };
  }
});
