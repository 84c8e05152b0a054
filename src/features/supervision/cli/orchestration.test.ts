import { afterEach, beforeEach, expect, it } from "vitest";
import { createFakeHost, runCommand } from "#test/cli/fake-host.ts";
import { FakeServer, reply } from "#test/cli/fake-server.ts";

const AT = "/api/orchestration/sessions/ses_1";
let server: FakeServer;
beforeEach(async () => {
  server = await new FakeServer().start();
});
afterEach(() => server.stop());

async function run(...words: string[]) {
  const host = createFakeHost({ env: server.env });
  const code = await runCommand(host, "orchestration", ...words);
  return { code, out: host.out, err: host.err };
}
const answers = (method: string, path: string, body: unknown) =>
  server.answer(method, path, (_seen, response) => reply(response, 200, body));
const now = new Date().toISOString();

it("switches supervisor mode on and off", async () => {
  const role = { sessionId: "ses_1", role: "supervisor" };
  answers("POST", `${AT}/enable`, role);
  expect(await run("enable", "ses_1")).toMatchObject({
    code: 0,
    out: "ses_1 is a supervisor. It gets the tools with its next turn.\n",
  });
  expect(JSON.parse((await run("--json", "enable", "ses_1")).out)).toEqual(role);
  answers("POST", `${AT}/disable`, { ...role, role: "standalone" });
  expect((await run("disable", "ses_1")).out).toContain("no longer a supervisor");
  server.refuse("POST", "/api/orchestration/sessions/ses_2/enable", 403, "orchestration_disabled");
  const refused = await run("enable", "ses_2");
  expect(refused.code).not.toBe(0);
  expect(refused.err).toContain("orchestration_disabled");
});

it("lists workers and what they said, without letting them write on the terminal", async () => {
  const worker = {
    workerId: "ses_2",
    name: "port\u001b[31m",
    state: "cold",
    lifecycle: "archived",
    messages: 3,
    lastActivityAt: now,
    doing: "does bash: ls",
  };
  answers("GET", `${AT}/workers`, { items: [worker] });
  const { out } = await run("workers", "ses_1");
  expect(out).toMatch(/ses_2\s+port.*cold \(archived\)\s+3\s.*does bash: ls/);
  expect(out).not.toContain("\u001b");
  expect(JSON.parse((await run("workers", "ses_1", "--json")).out)).toEqual({ items: [worker] });
  const asking = { ...worker, state: "streaming", activity: "needs_you", lifecycle: "active" };
  answers("GET", `${AT}/workers`, { items: [asking, { ...asking, activity: "working" }] });
  const live = (await run("workers", "ses_1")).out;
  expect(live).toMatch(/streaming \(needs_you\)\s+3/);
  expect(live).toMatch(/streaming\s+3/);
  answers("GET", `${AT}/workers`, { items: [] });
  expect((await run("workers", "ses_1")).out).toContain("No workers.");
  const item = { id: "evt_1", workerId: "ses_2", workerName: "port", at: now, delivered: false };
  const asked = { ...item, type: "worker.ask_user", payload: { questions: ["Which\nport?"] } };
  const ended = { ...item, type: "worker.ended", payload: { text: "done" }, delivered: true };
  answers("GET", `${AT}/inbox`, { items: [asked, ended] });
  const inbox = (await run("inbox", "ses_1")).out;
  expect(inbox).toMatch(/worker\.ask_user\s+port\s+no\s+Which port\?/);
  expect(inbox).toMatch(/worker\.ended\s+port\s+yes\s+done/);
  answers("GET", `${AT}/inbox`, { items: [] });
  expect((await run("inbox", "ses_1")).out).toContain("The inbox is empty.");
});

it("wipes the inbox, and detaches, kills and resumes workers", async () => {
  answers("POST", `${AT}/inbox/clear`, { cleared: 2 });
  expect((await run("inbox", "ses_1", "--clear", "--yes")).out).toBe(
    "2 notifications are removed.\n",
  );
  for (const action of ["detach", "kill", "resume"]) {
    answers("POST", `${AT}/workers/ses_2/${action}`, { workerId: "ses_2" });
    expect((await run(action, "ses_1", "ses_2")).code).toBe(0);
    expect(server.requests("POST", `${AT}/workers/ses_2/${action}`)).toHaveLength(1);
  }
  expect((await run("kill", "ses_1")).code).toBe(2);
});
