import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFakeHost, runCommand } from "#test/cli/fake-host.ts";
import { FakeServer, reply } from "#test/cli/fake-server.ts";

let server: FakeServer;
beforeEach(async () => {
  server = await new FakeServer().start();
  server.answer("POST", "/api/me/api-keys", (_seen, response) =>
    reply(response, 201, { apiKey: { id: "crd_7" }, key: "mst_key_once" }),
  );
});
afterEach(() => server.stop());

async function run(...words: string[]) {
  const host = createFakeHost({ env: server.env });
  const code = await runCommand(host, ...words);
  return { code, out: host.out, err: host.err };
}

describe("muster mcp", () => {
  it("prints what each client needs, and no key", async () => {
    const { code, out } = await run("mcp");
    expect(code).toBe(0);
    const url = `${server.env.MUSTER_SERVER}/mcp`;
    expect(out.split(url)).toHaveLength(4);
    expect(out).toContain("$" + "{MUSTER_MCP_KEY}");
    expect(out).not.toContain(server.env.MUSTER_API_KEY ?? "");
    expect(server.requests("POST", "/api/me/api-keys")).toEqual([]);
    const { clients } = JSON.parse((await run("--json", "mcp", "--client", "opencode")).out);
    expect(clients).toMatchObject({ opencode: { mcp: { muster: { type: "remote", url } } } });
    expect(Object.keys(clients)).toEqual(["opencode"]);
    expect((await run("mcp", "--client", "nobody")).code).toBe(2);
  });

  it("makes a key with no more rights than it takes, outside the files", async () => {
    const { out, err } = await run("mcp", "--new-key", "laptop", "--client", "claude");
    expect(out).toContain("export MUSTER_MCP_KEY=mst_key_once");
    expect(out.split("mst_key_once")).toHaveLength(2);
    expect(err).toContain("muster keys rm crd_7");
    await run("mcp", "--new-key", "looker", "--read-only", "--days", "7");
    expect(server.requests("POST", "/api/me/api-keys").map(({ body }) => body)).toMatchObject([
      { name: "laptop", scopes: ["sessions:read", "sessions:write", "tasks", "mail"] },
      { name: "looker", scopes: ["sessions:read"], expiresAt: expect.any(String) },
    ]);
  });
});
