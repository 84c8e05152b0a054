/** Attacks on rights, made as an attacker's page or program would. None may succeed. */
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KEY_SCOPES } from "#features/auth/contract.ts";
import {
  type Browser,
  closeCode,
  cookieOf,
  join,
  openSocket,
  orgOf,
  PASSWORD,
  postAnonymously,
  signIn,
  upgradeStatus,
} from "#test/clients/people.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { RIGHTS } from "./rights-table.ts";

const CHANGES = Object.entries(RIGHTS)
  .map(([route, { body }]) => ({ route, body }))
  .filter(({ route }) => !route.startsWith("GET "));

describe("an attack fails", () => {
  let platform: Platform;
  let ann: Browser;
  beforeAll(async () => {
    platform = await startPlatform({ runner: false });
    ann = await join(platform, "Ann", "admin");
  });
  afterAll(() => platform.stop());

  /** Origins of another site, of none, and of one that looks like ours. */
  const foreign = () => [
    "https://evil.example",
    "null",
    `${platform.url}.evil.example`,
    `${platform.url.replace(/:\d+$/, "")}:1`,
    platform.url.replace("http://", "http://evil@"),
    platform.url.replace("http:", "ftp:"),
  ];

  it("by a foreign page's forms and scripts, with the cookie of a signed-in person", async () => {
    let tried = 0;
    for (const { route, body } of CHANGES) {
      const [method = "", path = ""] = route.split(" ");
      const url = platform.url + path.replaceAll(/\{\w+\}/g, "x");
      const text = JSON.stringify(typeof body === "function" ? body(1) : (body ?? {}));
      const signs: Record<string, string>[] = [
        ...foreign().map((origin) => ({ origin })),
        { "sec-fetch-site": "cross-site", origin: platform.url },
        { "sec-fetch-site": "same-site", origin: platform.url },
        {},
      ];
      for (const sign of signs) {
        // Public routes need no cookie and may come without an origin: there is nothing to ride on.
        const isPublic = /sign-in$|inspect$|accept$|start$/.test(path);
        if (isPublic && !foreign().includes(sign.origin ?? "")) continue;
        const headers = { cookie: ann.cookie, "content-type": "application/json", ...sign };
        const answer = await fetch(url, { method, headers, body: text });
        expect({ route, sign, status: answer.status }).toEqual({ route, sign, status: 403 });
        expect(answer.headers.get("set-cookie")).toBeNull();
        expect(answer.headers.get("access-control-allow-origin")).toBeNull();
        tried++;
      }
    }
    expect(tried).toBeGreaterThan(300);
    // A form cannot send JSON.
    const form = await fetch(`${platform.url}/api/sessions`, {
      method: "POST",
      headers: { cookie: ann.cookie, origin: platform.url, "content-type": "text/plain" },
      body: "{}",
    });
    expect(form.status).toBe(415);
    expect((await ann.request("GET", "/api/me")).status).toBe(200);
  });

  it("by a foreign page's socket", async () => {
    for (const path of ["/api/live", "/api/runners/connect"]) {
      for (const origin of foreign())
        expect(await upgradeStatus(platform, path, { cookie: ann.cookie, origin })).toBe(403);
      expect(await upgradeStatus(platform, path, { cookie: ann.cookie })).toBe(403);
    }
    const own = { cookie: ann.cookie, origin: platform.url };
    expect(await upgradeStatus(platform, "/api/live", own)).toBe(101);
  });

  it("by a host name made to point here", async () => {
    const { port } = platform.server.http;
    const names = [
      "evil.example",
      `evil.example:${port}`,
      `127.0.0.1.evil.example:${port}`,
      `localhost:${port + 1}`,
      `localhost:${port}@evil.example`,
      `[::ffff:7f00:1]:${port}`,
      "",
    ];
    const upgrade =
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
    for (const host of names)
      for (const path of ["/api/me", "/health", "/"])
        for (const extra of ["Connection: close\r\n", upgrade]) {
          const answer = await raw(
            `GET ${extra === upgrade ? "/api/live" : path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${platform.key}\r\n${extra}\r\n`,
          );
          expect([400, 403]).toContain(statusOf(answer));
        }
  });

  it("by a cookie that was there before the person signed in", async () => {
    const eve = await join(platform, "Eve");
    // Eve's own cookie is planted in Ann's browser before Ann signs in.
    const signedIn = await postAnonymously(
      platform,
      "/api/auth/sign-in",
      { email: ann.email, password: PASSWORD },
      { cookie: eve.cookie },
    );
    expect(signedIn.status).toBe(200);
    expect(cookieOf(signedIn)).not.toBe(eve.cookie);
    expect((await eve.request("GET", "/api/me")).status).toBe(401);
    const made = `${eve.cookie.split("=")[0]}=mst_web_chosen_by_an_attacker`;
    const again = await postAnonymously(
      platform,
      "/api/auth/sign-in",
      { email: ann.email, password: PASSWORD },
      { cookie: made },
    );
    expect(cookieOf(again)).not.toBe(made);
    const headers = { cookie: made };
    expect((await fetch(`${platform.url}/api/me`, { headers })).status).toBe(401);
    expect(again.headers.get("set-cookie")).toMatch(
      /; Path=\/; HttpOnly; SameSite=Strict; Expires=/,
    );
  });

  it("by a key of another scope", async () => {
    const { orgId } = await orgOf(platform);
    const needs: [method: string, path: string, body: object | undefined, scope: string][] = [
      ["GET", "/api/sessions", undefined, "sessions:read"],
      ["POST", "/api/sessions", { runtime: "echo" }, "sessions:write"],
      ["GET", "/api/me/api-keys", undefined, "account"],
      ["GET", "/api/audit/verify", undefined, "admin"],
      ["PUT", "/api/providers/lab", { kind: "anthropic", apiKey: "k" }, "admin"],
      ["GET", `/api/orgs/${orgId}/invitations`, undefined, "admin"],
      ["PATCH", `/api/orgs/${orgId}`, { name: "Muster" }, "admin"],
    ];
    for (const scope of KEY_SCOPES) {
      const { body } = await ann.request<{ key: string }>("POST", "/api/me/api-keys", {
        name: scope,
        scopes: [scope],
      });
      const authorization = `Bearer ${body.key}`;
      for (const [method, path, send, wanted] of needs) {
        const { status } = await platform.request(method, path, send, { authorization });
        expect({ scope, path, isLetIn: status < 300 }).toEqual({
          scope,
          path,
          isLetIn: scope === wanted,
        });
      }
    }
  });

  it("by admitting a machine for everyone with an admin's key of another scope", async () => {
    const { body } = await ann.request<{ key: string }>("POST", "/api/me/api-keys", {
      name: "writes",
      scopes: ["sessions:read", "sessions:write", "account"],
    });
    const authorization = `Bearer ${body.key}`;
    for (const fields of [{ name: "r" }, { name: "r", scope: "org" }]) {
      const made = await platform.request("POST", "/api/runners/tokens", fields, { authorization });
      expect(made.status).toBe(403);
    }
  });

  it("by redirecting a person to another site", async () => {
    const evil = "https://evil.example/";
    for (const path of [
      "//evil.example/%2f..",
      "/\\evil.example",
      "/sign-in",
      "/join",
      "/api/auth/sign-in",
      "/preview/x",
      "/%5cevil.example",
    ]) {
      const asked = `${path}?next=${encodeURIComponent(evil)}&redirect=${encodeURIComponent(evil)}`;
      const answer = await raw(
        `GET ${asked} HTTP/1.1\r\nHost: 127.0.0.1:${platform.server.http.port}\r\nConnection: close\r\n\r\n`,
      );
      expect(answer).not.toMatch(/^location:/im);
      expect(String(statusOf(answer))).not.toMatch(/^3/);
    }
    // Links use the server's own address, whatever the request says.
    const { body } = await platform.request<{ link: string }>(
      "POST",
      "/api/auth/links",
      {},
      {
        "x-forwarded-host": "evil.example",
        "x-forwarded-proto": "https",
        forwarded: "host=evil.example",
      },
    );
    expect(new URL(body.link).origin).toBe(new URL(platform.url).origin);
  });

  it("by putting line breaks into headers", async () => {
    const { port } = platform.server.http;
    const injected = "%0d%0aSet-Cookie:%20injected=1";
    for (const path of [
      `/api/sessions/${injected}`,
      `/${injected}`,
      `/api/invitations/${injected}/accept`,
    ]) {
      const answer = await raw(
        `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${platform.key}\r\nConnection: close\r\n\r\n`,
      );
      expect(answer.split("\r\n\r\n")[0]).not.toMatch(/injected=1/);
    }
    const name = "x\r\nSet-Cookie: injected=1";
    const { orgId } = await orgOf(platform);
    expect((await ann.request("PATCH", "/api/me", { name })).status).toBe(400);
    expect((await ann.request("PATCH", `/api/orgs/${orgId}`, { name })).status).toBe(400);
    const email = "a@example.org\r\nBcc: all@example.org";
    expect((await signIn(platform, email)).status).toBe(400);
    const invited = await platform.request("POST", `/api/orgs/${orgId}/invitations`, { email });
    expect(invited.status).toBe(400);
  });

  it("by holding a socket open after the right to it is gone", async () => {
    const fay = await join(platform, "Fay");
    const socket = await openSocket(platform, "/api/live", {
      cookie: fay.cookie,
      origin: platform.url,
    });
    const closed = closeCode(socket);
    await fay.request("POST", "/api/auth/sign-out-everywhere", {});
    expect(await closed).toBe(4401);
    const { body } = await platform.request<{ id: string; token: string }>(
      "POST",
      "/api/runners/tokens",
      { name: "r" },
    );
    const runner = await openSocket(platform, "/api/runners/connect", {
      authorization: `Bearer ${body.token}`,
    });
    const dropped = closeCode(runner);
    await platform.server.auth.revoke(body.id);
    expect(await dropped).toBe(1008);
  });

  function raw(request: string): Promise<string> {
    return new Promise((resolve, reject) => {
      let text = "";
      const socket = connect(platform.server.http.port, "127.0.0.1", () => socket.write(request));
      socket.on("data", (data) => {
        text += String(data);
        if (text.includes("\r\n\r\n")) socket.destroy();
      });
      socket.once("close", () => resolve(text));
      socket.once("error", reject);
    });
  }
});

describe("guessing", () => {
  it("is slowed down on every public route", async () => {
    const platform = await startPlatform({ runner: false, env: { MUSTER_RATE_LIMIT: "50" } });
    const statuses: number[] = [];
    for (let i = 0; i < 60; i++) {
      const path = i % 2 === 0 ? "/api/auth/sign-in" : `/api/invitations/mst_inv_${i}/accept`;
      const body =
        i % 2 === 0
          ? { token: `mst_link_${i}` }
          : { name: "x", email: "x@example.org", password: PASSWORD };
      statuses.push((await postAnonymously(platform, path, body)).status);
    }
    expect(new Set(statuses)).toEqual(new Set([401, 404, 429]));
    await platform.stop();
  });
});

function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
}
