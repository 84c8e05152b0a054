import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createGrowingRedactor, createRedactor } from "../output/redact.ts";
import { openPullRequest } from "./pull-request.ts";

const TOKEN = "tok/en+0123456789-secret";
let server: Server | undefined;
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(null)));
  server = undefined;
});

type Reply = { status: number; body?: unknown; location?: string };

/** Runs against a server with these replies, in order. */
async function ask(...replies: Reply[]) {
  const seen: string[] = [];
  server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    const { status, body, location } = replies.shift() ?? { status: 500 };
    if (location !== undefined) response.setHeader("location", location);
    response.writeHead(status).end(typeof body === "string" ? body : JSON.stringify(body ?? null));
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const api = { fullName: "acme/a b", apiUrl, credential: { secret: "REPO", password: TOKEN } };
  const { signal } = new AbortController();
  const wish = { title: "t", body: "", head: "x/y", base: "main", draft: true, signal };
  const result = await openPullRequest(api, wish).catch((error: Error) => error.message);
  return { result, seen };
}

const PULL = { number: 7, html_url: "https://github.com/acme/app/pull/7", draft: true };

describe("a pull request", () => {
  it("is opened when there is none, and found when there is", async () => {
    const { result, seen } = await ask({ status: 200, body: [] }, { status: 201, body: PULL });
    expect(result).toEqual({ url: PULL.html_url, number: 7, isDraft: true, isNew: true });
    expect(seen).toEqual([
      "GET /repos/acme/a%20b/pulls?state=open&head=acme%3Ax%2Fy&base=main",
      "POST /repos/acme/a%20b/pulls",
    ]);
    expect((await ask({ status: 200, body: [PULL] })).result).toMatchObject({ isNew: false });
  });

  it("is found when somebody opens it in the same moment", async () => {
    const { result } = await ask(
      { status: 200, body: [] },
      { status: 422, body: { message: "already exists" } },
      { status: 200, body: [PULL] },
    );
    expect(result).toMatchObject({ number: 7, isNew: false });
  });

  it.each([
    [
      "a token that is not taken",
      { status: 401, body: { message: "Bad credentials" } },
      /401, Bad credentials.*REPO/,
    ],
    ["a missing right", { status: 403, body: { message: "no" } }, /403, no.*REPO/],
    ["a server that fails", { status: 502, body: "<html>" }, /502\. Try again/],
    ["nonsense", { status: 201, body: { number: "x" } }, /without a pull request/],
    [
      "an address that is none",
      { status: 201, body: { ...PULL, html_url: "javascript:x" } },
      /without a/,
    ],
    [
      "what does not fit",
      { status: 422, body: { message: "Validation Failed", errors: [{ message: "No commits" }] } },
      /Validation Failed No commits/,
    ],
  ])("says what to do about %s", async (_what, reply, text) => {
    const { result } = await ask({ status: 200, body: [] }, reply, { status: 200, body: [] });
    expect(result).toMatch(text);
    expect(result).not.toContain(TOKEN);
  });

  it("does not follow a redirect with the token", async () => {
    const { result, seen } = await ask({ status: 301, location: "/elsewhere" });
    expect(result).toMatch(/301.*has moved/);
    expect(seen).toHaveLength(1);
  });
});

describe("a growing redactor", () => {
  it("takes out what became known, however it is written", () => {
    const { redact, add } = createGrowingRedactor(createRedactor(["first-secret"]));
    expect(redact(`first-secret ${TOKEN}`)).toBe(`[secret] ${TOKEN}`);
    add([TOKEN]);
    const basic = Buffer.from(`x-access-token:${TOKEN}`).toString("base64");
    const text = `first-secret ${TOKEN} ${encodeURIComponent(TOKEN)} ${basic}`;
    const clean = redact(text);
    expect(clean).toMatch(/^\[secret\] \[secret\] \[secret\] /);
    expect(clean).not.toContain(Buffer.from(TOKEN).toString("base64").slice(4, 20));
    expect(clean).not.toContain(basic);
  });
});
