import { afterEach, beforeEach, expect, it } from "vitest";
import { createFakeHost, runCommand } from "#test/cli/fake-host.ts";
import { FakeServer, reply } from "#test/cli/fake-server.ts";

const AT = "/api/me/orchestrator";
const identity = {
  name: "Ada",
  handle: "ada",
  avatar: null,
  style: "terse",
  customInstructions: null,
};
let server: FakeServer;
beforeEach(async () => {
  server = await new FakeServer().start();
});
afterEach(() => server.stop());

async function run(...words: string[]) {
  const host = createFakeHost({ env: server.env });
  const code = await runCommand(host, "orchestrator", ...words);
  return { code, out: host.out, err: host.err };
}
const answers = (method: string, path: string, body: unknown) =>
  server.answer(method, path, (_seen, response) => reply(response, 200, body));

it("says who may write to it, and when a list has nobody on it", async () => {
  const accepts = async (acceptsAgentMail: string) => {
    answers("PUT", `${AT}/identity`, { identity: { ...identity, acceptsAgentMail } });
    const { out } = await run("set", "--mail", acceptsAgentMail);
    return out.split("\n").find((line) => line.startsWith("mail from"));
  };
  expect(await accepts("none")).toMatch(/nobody \(none\)$/);
  expect(await accepts("org")).toMatch(/everybody in the organisation and their agents/);
  answers("GET", "/api/me/mail-contacts", { items: [] });
  expect(await accepts("list")).toContain("muster inbox contacts add NAME");
  answers("GET", "/api/me/mail-contacts", { items: [{ userId: "usr_2", name: "Bea" }] });
  expect(await accepts("list")).toMatch(/Bea, and their agents \(list\)$/);
  expect(server.requests("PUT", `${AT}/identity`).map(({ body }) => body)).toEqual(
    ["none", "org", "list", "list"].map((acceptsAgentMail) => ({ acceptsAgentMail })),
  );
});

it("shows it when nothing is said, and knows a misspelt command", async () => {
  const found = { identity: { ...identity, acceptsAgentMail: "none" }, session: null };
  answers("GET", AT, { ...found, needsRestart: false, recovery: null });
  expect((await run()).out).toMatch(/handle +@ada/);
  const { code, err } = await run("shwo");
  expect(code).toBe(2);
  expect(err).toContain("unknown command 'shwo'");
});
