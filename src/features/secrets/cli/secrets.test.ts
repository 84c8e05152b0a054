import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFakeHost, type FakeHostOptions, runCommand } from "#test/cli/fake-host.ts";
import { FakeServer, reply } from "#test/cli/fake-server.ts";

const VALUE = "canary-0123456789-otter";
const MINE = "/api/me/secrets";
const ORG = "/api/orgs/org_1/secrets";
const secret = {
  name: "TOKEN",
  scope: "user",
  description: "For git",
  version: 1,
  createdAt: new Date().toISOString(),
  updatedAt: new Date().toISOString(),
  lastUsedAt: null,
  problem: null,
};

let server: FakeServer;
beforeEach(async () => {
  server = await new FakeServer().start();
  server.answer("GET", "/api/me", (_seen, response) =>
    reply(response, 200, { org: { id: "org_1" } }),
  );
  for (const path of [MINE, ORG])
    server.answer("PUT", `${path}/TOKEN`, (_seen, response) => reply(response, 200, { secret }));
});
afterEach(() => server.stop());

async function run(words: string[], options: FakeHostOptions = {}) {
  const host = createFakeHost({ env: server.env, ...options });
  const code = await runCommand(host, "secrets", ...words);
  return { code, out: host.out, err: host.err };
}
const sent = (path = MINE) => server.requests("PUT", `${path}/TOKEN`).map(({ body }) => body);

describe("muster secrets", () => {
  it("takes the value from standard input and repeats it nowhere", async () => {
    const { code, out, err } = await run(["set", "TOKEN", "--description", "For git"], {
      input: `${VALUE}\n`,
    });
    expect(code).toBe(0);
    expect(sent()).toEqual([{ value: VALUE, description: "For git" }]);
    expect(out).toBe("TOKEN is stored.\n");
    expect(out + err).not.toContain(VALUE);
  });

  it("keeps all lines of what is piped in but the last line end", async () => {
    await run(["set", "TOKEN"], { input: "-----BEGIN-----\r\nä\n\n-----END-----\n\n" });
    await run(["set", "TOKEN"], { input: " x \r\n" });
    expect(sent()).toEqual([
      { value: "-----BEGIN-----\r\nä\n\n-----END-----\n" },
      { value: " x " },
    ]);
  });

  it("asks for the value on a terminal, without showing it", async () => {
    const { code, out, err } = await run(["set", "TOKEN", "--org"], { typed: `${VALUE}\r` });
    expect(code).toBe(0);
    expect(sent(ORG)).toEqual([{ value: VALUE }]);
    expect(err).toContain("Value of TOKEN");
    expect(out + err).not.toContain(VALUE);
  });

  it("stores nothing when it is left, or nothing comes, or it does not fit", async () => {
    expect((await run(["set", "TOKEN"], { typed: "abc\u0003" })).code).toBe(130);
    expect((await run(["set", "TOKEN"], { typed: "\r" })).code).toBe(2);
    expect((await run(["set", "TOKEN"], { input: "\n" })).code).toBe(2);
    expect((await run(["set", "TOKEN"], { input: "x".repeat(66_000) })).code).toBe(4);
    expect((await run(["set", "TOKEN", VALUE], { input: "x" })).code).toBe(2);
    expect(sent()).toEqual([]);
  });

  it("says when a value was replaced", async () => {
    server.answer("PUT", `${MINE}/TOKEN`, (_seen, response) =>
      reply(response, 200, { secret: { ...secret, version: 3 } }),
    );
    const { out } = await run(["set", "TOKEN"], { input: VALUE });
    expect(out).toBe("TOKEN has a new value (version 3).\n");
  });

  it("lists names, one's own or the organisation's", async () => {
    const items = [secret, { ...secret, name: "OLD", problem: "Set it again." }];
    for (const path of [MINE, ORG])
      server.answer("GET", path, (_seen, response) =>
        reply(response, 200, { items: path === MINE ? items : [], next: null }),
      );
    const { out } = await run(["ls"]);
    expect(out).toMatch(/TOKEN +1 +just now +never +For git/);
    expect(out).toMatch(/OLD .*Set it again\./);
    expect((await run(["ls", "--org"])).out).toContain("No secrets");
    expect(JSON.parse((await run(["ls", "--json"])).out)).toEqual({ items, next: null });
  });

  it("removes a secret", async () => {
    server.answer("DELETE", `${ORG}/TOKEN`, (_seen, response) => reply(response, 200, { secret }));
    expect((await run(["rm", "TOKEN", "--org"])).out).toBe("TOKEN is removed.\n");
    server.refuse("DELETE", `${MINE}/TOKEN`, 404, "not_found");
    expect((await run(["rm", "TOKEN"])).code).toBe(6);
  });
});
