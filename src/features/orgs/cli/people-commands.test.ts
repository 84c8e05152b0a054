import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFakeHost, runCommand } from "#test/cli/fake-host.ts";
import { FakeServer, reply } from "#test/cli/fake-server.ts";

let server: FakeServer;
beforeEach(async () => {
  server = await new FakeServer().start();
});
afterEach(() => server.stop());

async function run(...words: string[]) {
  const host = createFakeHost({ env: server.env });
  const code = await runCommand(host, ...words);
  return { code, out: host.out, err: host.err };
}
const answers = (method: string, path: string, body: unknown) =>
  server.answer(method, path, (_seen, response) => reply(response, 200, body));

describe("approvals", () => {
  const approval = {
    id: "apr_1",
    kind: "approval",
    state: "pending",
    decision: null,
    askedAt: new Date().toISOString(),
    sessionId: "ses_1",
    tool: "bash",
    target: "git push\u001b[31m\norigin",
    shown: {},
  };
  const question = { ...approval, id: "apr_2", tool: "ask_user_question", target: null };
  const shown = { input: { questions: [{ question: "Which colour?" }] } };

  it("are listed, those that wait unless all are wanted", async () => {
    answers("GET", "/api/approvals", { items: [approval, { ...question, shown }], next: null });
    const { code, out } = await run("approvals", "ls");
    expect(code).toBe(0);
    expect(out).toContain("git push");
    expect(out).toContain("Which colour?");
    expect(out).not.toContain("\u001b");
    await run("approvals", "ls", "--all", "--session", "ses_1");
    const queries = server.requests("GET", "/api/approvals").map(({ query }) => query);
    expect(queries[0]?.state).toBe("pending");
    expect(queries[1]).toMatchObject({ session: "ses_1" });
    expect(queries[1]?.state).toBeUndefined();
    answers("GET", "/api/approvals", { items: [], next: null });
    expect((await run("approvals")).out).toContain("Nothing needs your answer");
    expect((await run("approvals", "alow", "apr_1")).err).toContain("unknown command 'alow'");
  });

  it("are shown whole: calls, questions and plans", async () => {
    const plan = { plan: "1. Add a\u001b[31m\n2. Test" };
    const asked = { ...approval, kind: "plan", tool: "request_plan_approval" };
    answers("GET", "/api/approvals/apr_3", { approval: { ...asked, shown: { input: plan } } });
    const { code, out } = await run("approvals", "show", "apr_3");
    expect(code).toBe(0);
    expect(out).toContain("  │ 1. Add a<U+001B>[31m\n  │ 2. Test");
    const open = { ...question, kind: "question", shown };
    answers("GET", "/api/approvals/apr_2", { approval: open });
    expect((await run("approvals", "show", "apr_2")).out).toContain("Which colour?");
    const listed = { ...asked, target: null, shown: { input: { plan: "1. Add b" } } };
    answers("GET", "/api/approvals", { items: [listed], next: null });
    expect((await run("approvals", "ls")).out).toContain("1. Add b");
  });

  it("are decided and answered", async () => {
    answers("POST", "/api/approvals/apr_1", { approval });
    expect((await run("approvals", "allow", "apr_1", "--scope", "session")).code).toBe(0);
    expect((await run("approvals", "deny", "apr_1", "--reason", "no")).code).toBe(0);
    expect((await run("approvals", "answer", "apr_1", "red", "two words")).code).toBe(0);
    expect(server.requests("POST", "/api/approvals/apr_1").map(({ body }) => body)).toEqual([
      { decision: "allow", scope: "session" },
      { decision: "deny", scope: "once", reason: "no" },
      { answers: ["red", "two words"] },
    ]);
    expect((await run("approvals", "revise", "apr_1", "smaller")).code).toBe(0);
    expect(server.requests("POST", "/api/approvals/apr_1").at(-1)?.body).toEqual({
      decision: "revise",
      reason: "smaller",
    });
    expect((await run("approvals", "revise", "apr_1")).code).toBe(2);
    expect((await run("approvals", "allow", "apr_1", "--scope", "forever")).code).toBe(2);
    server.refuse("POST", "/api/approvals/apr_1", 409, "already_decided");
    expect((await run("approvals", "allow", "apr_1")).code).toBe(7);
  });
});

describe("audit", () => {
  const event = {
    id: "aud_1",
    at: "2026-01-01T00:00:00.000Z",
    category: "tool",
    action: "tool_denied",
    severity: "warning",
    metadata: {
      sessionId: "ses_1",
      userId: "usr_1",
      requestId: "run_1",
      tool: "bash",
      code: "policy",
    },
    seq: 1,
    hash: "x",
  };

  it("is listed up to a limit", async () => {
    server.answer("GET", "/api/audit", ({ query }, response) => {
      const count = Number(query.limit);
      reply(response, 200, { items: Array(count).fill(event), next: "c" });
    });
    const { code, out } = await run("audit", "ls", "--limit", "250", "--action", "tool_denied");
    expect(code).toBe(0);
    expect(out.trim().split("\n")).toHaveLength(251);
    expect(out).toContain("tool=bash code=policy");
    expect(server.requests("GET", "/api/audit").map(({ query }) => query.limit)).toEqual([
      "200",
      "50",
    ]);
    expect((await run("audit", "ls", "--limit", "0")).code).toBe(2);
  });

  it("has an exit code of its own when it was tampered with", async () => {
    const head = { seq: 9, hash: "abc" };
    answers("GET", "/api/audit/verify", {
      ok: true,
      sealed: 9,
      unsealed: 1,
      firstBroken: null,
      head,
    });
    const good = await run("audit", "verify");
    expect(good.code).toBe(0);
    expect(good.out).toContain("9 rows");
    const firstBroken = { seq: 4, why: "row 4 was changed" };
    answers("GET", "/api/audit/verify", { ok: false, sealed: 3, unsealed: 0, firstBroken, head });
    const bad = await run("audit", "verify");
    expect(bad.code).toBe(8);
    expect(bad.out).toContain("row 4 was changed");
    const json = await run("audit", "verify", "--json");
    expect(json.code).toBe(8);
    expect(JSON.parse(json.out)).toMatchObject({ ok: false, firstBroken });
  });
});

describe("usage and models", () => {
  const sum = {
    requests: 2,
    inputTokens: 10,
    cachedInputTokens: 1,
    outputTokens: 5,
    reasoningTokens: 0,
    costMicros: 1_500_000,
    unpricedRequests: 1,
    toolCalls: 3,
    turns: 1,
    modelMs: 1,
    toolMs: 1,
  };

  it("shows what is known of the cost, and what is not", async () => {
    const items = [
      { key: "2026-01-02", title: null, ...sum },
      { key: "2026-01-01", title: null, ...sum, costMicros: null },
    ];
    answers("GET", "/api/usage", { items, next: null, total: sum });
    const { code, out } = await run("usage");
    expect(code).toBe(0);
    expect(out).toContain("$1.5000 + 1 unpriced");
    expect(out).toMatch(/2026-01-01.* unpriced /);
    expect(server.requests("GET", "/api/usage")[0]?.query.by).toBe("day");
    expect(JSON.parse((await run("usage", "--by", "model", "--json")).out)).toMatchObject({
      total: sum,
    });
    expect((await run("usage", "--by", "mood")).code).toBe(2);
  });

  it("lists models with what they need", async () => {
    const price = {
      id: "p",
      inputMicros: 3_000_000,
      cachedInputMicros: 0,
      outputMicros: 15_000_000,
    };
    answers("GET", "/api/models", {
      items: [
        { id: "demo/story", provider: "demo", usable: true, why: null, price },
        { id: "lab/x", provider: "lab", usable: false, why: "Set LAB_KEY.", price: null },
      ],
    });
    const { code, out } = await run("models");
    expect(code).toBe(0);
    expect(out).toMatch(/demo\/story\s+yes\s+3\.00\s+15\.00/);
    expect(out).toMatch(/lab\/x\s+no\s+unpriced\s+unpriced\s+Set LAB_KEY\./);
  });
});
