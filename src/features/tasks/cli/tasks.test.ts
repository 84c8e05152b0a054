import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFakeHost, runCommand } from "#test/cli/fake-host.ts";
import { FakeServer, reply } from "#test/cli/fake-server.ts";

const TASKS = "/api/sessions/orchestrator/tasks";
const ORCHESTRATOR = "/api/me/orchestrator";
const task = {
  id: "tsk_1",
  boardId: "orchestrator:usr_1",
  sessionId: "ses_9",
  parentTaskId: null,
  title: "Otters\u001b[31m",
  description: "All of\nthem",
  status: "blocked",
  blockedBy: ["tsk_0"],
  openBlockers: ["tsk_0"],
  blockedReason: null,
  note: null,
  result: null,
  priority: "high",
  labels: ["zoo"],
  dueAt: new Date(2030, 0, 31, 12).toISOString(),
  isOverdue: false,
  position: 1,
  check: { kind: "command", command: "npm test" },
  createdBy: "user:usr_1",
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-01T00:00:00.000Z",
  settledAt: null,
  sessionTitle: "Counter",
  parent: null,
  blockers: [{ id: "tsk_0", title: "Find them", status: "pending" }],
};

let server: FakeServer;
beforeEach(async () => {
  server = await new FakeServer().start();
  answers("GET", ORCHESTRATOR, { session: { id: "orchestrator:usr_1" }, needsRestart: false });
  server.answer("POST", TASKS, (_seen, response) => reply(response, 201, { task }));
  list(TASKS, [task]);
  server.answer("PUT", `${TASKS}/tsk_1`, (_seen, response) =>
    reply(response, 200, { task, unblocked: [{ ...task, id: "tsk_2", title: "Next" }] }),
  );
  server.answer("DELETE", `${TASKS}/tsk_1`, (_seen, response) =>
    reply(response, 200, { deleted: ["tsk_1", "tsk_3"] }),
  );
});
afterEach(() => server.stop());

function list(path: string, items: object[]): void {
  server.answer("GET", path, (_seen, response) => reply(response, 200, { items, next: null }));
}

function answers(method: string, path: string, body: unknown): void {
  server.answer(method, path, (_seen, response) => reply(response, 200, body));
}

async function run(...words: string[]) {
  const host = createFakeHost({ env: server.env });
  const code = await runCommand(host, "tasks", ...words);
  return { code, out: host.out, err: host.err };
}

describe("muster tasks", () => {
  it("lists a board, of the orchestrator if no other is named", async () => {
    const { out } = await run("ls", "--status", "pending,blocked", "--assigned", "none");
    expect(out).toMatch(/tsk_1 +blocked +high +2030-01-31 +ses_9 +Otters/);
    expect(out).not.toContain("\u001b");
    expect(server.requests("GET", TASKS)[0]?.query).toMatchObject({
      status: "pending,blocked",
      sessionId: "none",
    });
    list("/api/sessions/ses_1/tasks", []);
    expect((await run("ls", "--session", "ses_1")).out).toContain("muster tasks add");
    expect(JSON.parse((await run("ls", "--json")).out)).toMatchObject({ items: [{ id: "tsk_1" }] });
    list(`${TASKS}/ready`, []);
    expect((await run("ready")).out).toContain("Nothing is ready");
  });

  it("makes the orchestrator whose board it is, when there is none yet", async () => {
    answers("GET", ORCHESTRATOR, { session: null, needsRestart: false });
    answers("POST", ORCHESTRATOR, { session: { id: "orchestrator:usr_1" } });
    expect((await run("add", "Count otters")).out).toBe("tsk_1 was added: blocked.\n");
    expect(server.requests("POST", ORCHESTRATOR)).toHaveLength(1);
    list("/api/sessions/ses_1/tasks", []);
    await run("ls", "--session", "ses_1");
    expect(server.requests("GET", ORCHESTRATOR)).toHaveLength(1);
  });

  it("adds with all that can be said", async () => {
    const words = ["--for", "ses_9", "--after", "tsk_0", "--after", "tsk_8", "--part-of", "tsk_5"];
    const more = ["--label", "zoo", "--due", "2030-01-31", "--check", "npm test", "--label", "big"];
    const { out } = await run("add", ...words, "--priority", "high", ...more, "Count", "otters");
    expect(out).toBe("tsk_1 was added: blocked.\n");
    const [seen] = server.requests("POST", TASKS);
    expect(seen?.body).toEqual({
      title: "Count otters",
      sessionId: "ses_9",
      blockedBy: ["tsk_0", "tsk_8"],
      parentTaskId: "tsk_5",
      priority: "high",
      labels: ["zoo", "big"],
      dueAt: new Date(2030, 0, 31, 23, 59, 59).toISOString(),
      check: { kind: "command", command: "npm test" },
    });
    expect(seen?.headers["idempotency-key"]).toMatch(/.{20,}/);
    expect((await run("add", "x", "--priority", "huge")).code).toBe(2);
    const impossible = await run("add", "x", "--due", "2030-02-31");
    expect(impossible).toMatchObject({ code: 2, err: expect.stringContaining("no such day") });
    expect(server.requests("POST", TASKS)).toHaveLength(1);
  });

  it("shows a task with its last check and its changes", async () => {
    const at = "2026-01-01T00:00:00.000Z";
    const check = { passed: false, exitCode: 1, output: "1 failed\n", at };
    const changes = [
      { at, by: "system", field: "status", from: "pending", to: "blocked" },
      { at, by: "user:usr_2", field: "sessionId", from: null, to: "ses_1" },
      { at, by: "session:ses_8", field: "blockedBy", from: "", to: "tsk_0" },
      { at, by: "user:usr_1", field: "created", from: null, to: "pending" },
    ];
    const dependents = [{ id: "tsk_2", title: "Write it up", status: "blocked" }];
    server.answer("GET", `${TASKS}/tsk_1`, (_seen, response) =>
      reply(response, 200, { task, checks: [check], changes, parts: [], dependents }),
    );
    answers("GET", "/api/me", { user: { id: "usr_1", name: "Ann" }, org: { id: "org_1" } });
    list("/api/orgs/org_1/members", [
      { userId: "usr_1", name: "Ann" },
      { userId: "usr_2", name: "Bea" },
    ]);
    const { out } = await run("show", "tsk_1");
    expect(out).toMatch(/session +Counter \(ses_9\)/);
    expect(out).toMatch(/waits for +Find them \(tsk_0\)/);
    expect(out).toMatch(/created +.* by you\n/);
    expect(out).toContain("Tasks that wait for it\nWrite it up (tsk_2), blocked\n");
    expect(out).toMatch(/Bea: assignee – → A session\n/);
    expect(out).toMatch(/session:ses_8: waits for – → tsk_0\n/);
    expect(out).toMatch(/you: created it\n/);
    expect(out).toMatch(/check +npm test/);
    expect(out).toMatch(/Last check\nnot passed, exit code 1, .*\n1 failed\n/);
    expect(out).toMatch(/Muster: status pending → blocked/);
  });

  it.each([
    ["done", ["tsk_1", "--result", "9"], { status: "completed", result: "9" }],
    ["begin", ["tsk_1"], { status: "in_progress" }],
    ["fail", ["tsk_1"], { status: "failed" }],
    ["block", ["tsk_1", "legal", "looks"], { status: "blocked", blockedReason: "legal looks" }],
    ["unblock", ["tsk_1"], { status: "pending" }],
    ["assign", ["tsk_1", "ses_4"], { sessionId: "ses_4" }],
    ["assign", ["tsk_1", "A session"], { sessionId: "ses_1" }],
    ["assign", ["tsk_1", "none"], { sessionId: null }],
    [
      "edit",
      ["tsk_1", "--title", "Seals", "--after", "tsk_7,tsk_8", "--priority", "low"],
      { title: "Seals", blockedBy: ["tsk_7", "tsk_8"], priority: "low" },
    ],
    [
      "edit",
      ["tsk_1", "--after", "none", "--due", "none", "--label", "none", "--check", "none"],
      { blockedBy: [], dueAt: null, labels: [], check: null },
    ],
    [
      "edit",
      ["tsk_1", "--part-of", "none", "--description", ""],
      { parentTaskId: null, description: null },
    ],
  ])("%s %j", async (name, words, body) => {
    const { out } = await run(name, ...words);
    expect(server.requests("PUT", `${TASKS}/tsk_1`)[0]?.body).toEqual(body);
    expect(out).toBe("tsk_1 is blocked, assigned to ses_9.\ntsk_2 is no longer blocked: Next\n");
  });

  it("finds the board by any name of a session, and takes no typing error for a list", async () => {
    list("/api/sessions/ses_1/tasks", [task]);
    expect((await run("--session", "A session")).out).toContain("tsk_1");
    expect((await run()).out).toContain("tsk_1");
    const { code, err } = await run("dnoe", "tsk_1");
    expect(code).toBe(2);
    expect(err).toContain("unknown command 'dnoe'");
    expect((await run("edit", "tsk_1")).code).toBe(2);
    list(TASKS, []);
    expect((await run("ls", "--label", "zoo")).out).toBe("No matching tasks.\n");
  });

  it("says which command does what a refusal advises", async () => {
    server.refuse("PUT", `${TASKS}/tsk_1`, 409, "task_blocked");
    const { code, err } = await run("begin", "tsk_1");
    expect(code).toBe(7);
    expect(err).toContain("muster tasks edit TASK --after");
  });

  it("deletes with all parts, and says what was refused", async () => {
    expect((await run("rm", "tsk_1", "--yes")).out).toBe(
      "tsk_1 is deleted, with its subtasks (1).\n",
    );
    server.refuse("PUT", `${TASKS}/tsk_1`, 409, "check_not_passed");
    expect((await run("done", "tsk_1")).code).toBe(7);
  });
});
