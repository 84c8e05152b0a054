/**
 * API keys reach only what their scopes name. Approvals and runners have their own scopes; rules,
 * invitations and roles need a signed-in person or the owner's key.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KEY_SCOPES } from "#features/auth/contract.ts";
import { asks } from "#features/testing/index.ts";
import { bearer, type HandRunner, handRunner, turnOf } from "#test/clients/mcp.ts";
import { browserOf, cookieOf, join, orgOf, postAnonymously } from "#test/clients/people.ts";
import { type Platform, startPlatform } from "#test/platform.ts";

const MCP_SCOPES = ["sessions:read", "sessions:write", "tasks", "mail"];
const ALL_BUT = (...left: string[]) => KEY_SCOPES.filter((scope) => !left.includes(scope));

let platform: Platform;
let runner: HandRunner;
let orgId: string;

beforeAll(async () => {
  platform = await startPlatform({ runner: false, env: { MUSTER_RUNTIME: "native" } });
  runner = await handRunner(platform);
  ({ orgId } = await orgOf(platform));
});
afterAll(async () => {
  runner.close();
  await platform.stop();
});

async function keyOf(scopes: readonly string[]): Promise<string> {
  const body = { name: scopes.join(" ").slice(0, 100), scopes };
  const made = await platform.request<{ key: string }>("POST", "/api/me/api-keys", body);
  expect(made.status).toBe(201);
  return made.body.key;
}

type Sent = { status: number; code: string | undefined };
async function as(
  key: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<Sent & { body: Record<string, unknown> }> {
  const answer = await platform.request<{ error?: { code: string } }>(
    method,
    path,
    body,
    bearer(key),
  );
  return { status: answer.status, code: answer.body.error?.code, body: answer.body as never };
}

/** Parks an agent's push behind an approval and returns the approval's id. */
async function pendingApproval(): Promise<string> {
  const { sessionId, turn } = await turnOf(platform, runner);
  await turn.journal([asks("c1", "bash", { command: "git push origin main" })]);
  await turn.journal([], { park: { kind: "gate", callId: "c1" } });
  const path = `/api/approvals?state=pending&session=${sessionId}`;
  const { body } = await platform.request<{ items: { id: string }[] }>("GET", path);
  return body.items[0]?.id ?? "";
}

describe("approvals", () => {
  it("are not decided with a key of another scope", async () => {
    const id = await pendingApproval();
    for (const key of [await keyOf(MCP_SCOPES), await keyOf(ALL_BUT("approvals"))])
      for (const body of [{ decision: "allow" }, { decision: "allow", scope: "always" }])
        expect((await as(key, "POST", `/api/approvals/${id}`, body)).status).toBe(404);
    expect((await platform.request("GET", `/api/approvals/${id}`)).body).toMatchObject({
      approval: { state: "pending" },
    });
  });

  it("are read and decided once with the scope, and never remembered", async () => {
    const id = await pendingApproval();
    const key = await keyOf(["approvals"]);
    expect((await as(key, "GET", "/api/approvals")).status).toBe(200);
    expect((await as(key, "GET", "/api/sessions")).status).toBe(403);
    for (const scope of ["always", "session"])
      expect(
        await as(key, "POST", `/api/approvals/${id}`, { decision: "allow", scope }),
      ).toMatchObject({
        status: 403,
        code: "sign_in_needed",
      });
    const rules = await platform.request<{ items: { note: string | null }[] }>(
      "GET",
      "/api/policy",
    );
    expect(rules.body.items.filter(({ note }) => note?.startsWith("Decided"))).toEqual([]);
    expect((await as(key, "POST", `/api/approvals/${id}`, { decision: "deny" })).status).toBe(200);
  });

  it("are not decided by a reply to the message that told of a question", async () => {
    const { sessionId, turn } = await turnOf(platform, runner);
    const questions = [{ question: "Deploy to production?" }];
    await turn.journal([asks("c1", "ask_user_question", { questions })]);
    await turn.journal([], { park: { kind: "gate", callId: "c1" } });
    const messages = await platform.request<{
      items: { id: string; eventType: string; contextSessionId: string; contextRef: string }[];
    }>("GET", "/api/me/inbox");
    const asked = messages.body.items.find(
      ({ eventType, contextSessionId }) =>
        eventType === "session.question" && contextSessionId === sessionId,
    );
    const gate = `/api/approvals/${asked?.contextRef.replace("approval:", "")}`;
    const path = `/api/me/inbox/${asked?.id}/reply`;
    for (const key of [await keyOf(MCP_SCOPES), await keyOf(ALL_BUT("approvals"))])
      expect(await as(key, "POST", path, { content: "yes" })).toMatchObject({ status: 403 });
    const state = async () => (await platform.request("GET", gate)).body.approval;
    expect(await state()).toMatchObject({ state: "pending" });
    const key = await keyOf([...MCP_SCOPES, "approvals"]);
    expect((await as(key, "POST", path, { content: "yes" })).status).toBe(201);
    expect(await state()).toMatchObject({ state: "decided" });
  });

  it("are decided for always by the owner's key, and by a signed-in person", async () => {
    const id = await pendingApproval();
    const always = { decision: "deny", scope: "always" };
    // A browser that was opened with a key has the rights of that key.
    const opened = await postAnonymously(platform, "/api/auth/sign-in", {
      key: await keyOf(ALL_BUT("admin")),
    });
    const lent = browserOf(platform, "", "", cookieOf(opened));
    expect(await lent.request("POST", `/api/approvals/${id}`, always)).toMatchObject({
      status: 403,
      body: { error: { code: "sign_in_needed" } },
    });
    expect((await platform.request("POST", `/api/approvals/${id}`, always)).status).toBe(200);
  });
});

describe("rules", () => {
  const rule = { tool: "bash", pattern: "git push *", effect: "allow" };

  it("are neither made nor removed with a key, whatever its scopes", async () => {
    const key = await keyOf(KEY_SCOPES);
    for (const level of ["user", "org"])
      expect(await as(key, "POST", "/api/policy/rules", { ...rule, level })).toMatchObject({
        status: 403,
        code: "sign_in_needed",
      });
    const made = await platform.request<{ rule: { id: string } }>("POST", "/api/policy/rules", {
      ...rule,
      effect: "deny",
    });
    const path = `/api/policy/rules/${made.body.rule.id}`;
    expect(await as(key, "DELETE", path)).toMatchObject({ status: 403, code: "sign_in_needed" });
    expect((await platform.request("DELETE", path)).status).toBe(200);
  });

  it("do not come in through a persona that a key has written", async () => {
    const key = await keyOf(KEY_SCOPES);
    const path = `/api/orgs/${orgId}/personas`;
    const persona = { name: "Pusher", toolPolicy: [rule] };
    expect(await as(key, "POST", path, persona)).toMatchObject({
      status: 403,
      code: "sign_in_needed",
    });
    const made = await platform.request<{ persona: { id: string } }>("POST", path, {
      ...persona,
      toolPolicy: [{ ...rule, effect: "deny" }],
    });
    expect(made.status).toBe(201);
    const one = `${path}/${made.body.persona.id}`;
    for (const toolPolicy of [[rule], []])
      expect(await as(key, "PATCH", one, { toolPolicy })).toMatchObject({ status: 403 });
    // Other fields than rules can still be changed.
    expect((await as(key, "PATCH", one, { description: "pushes" })).status).toBe(200);
  });
});

describe("runners", () => {
  it("are admitted only with the scope, and for everyone only with admin besides", async () => {
    for (const scopes of [["account"], ["account", "admin"], ALL_BUT("runners")]) {
      const key = await keyOf(scopes);
      for (const fields of [
        { name: "r", scope: "user" },
        { name: "r", scope: "org" },
      ])
        expect((await as(key, "POST", "/api/runners/tokens", fields)).status).toBe(403);
      expect((await as(key, "GET", "/api/runners/tokens")).status).toBe(403);
    }
    const own = await keyOf(["runners"]);
    const token = { name: "r", scope: "user" };
    expect((await as(own, "POST", "/api/runners/tokens", token)).status).toBe(201);
    expect((await as(own, "GET", "/api/runners")).status).toBe(200);
    expect((await as(own, "POST", "/api/runners/tokens", { ...token, scope: "org" })).status).toBe(
      403,
    );
    const both = await keyOf(["runners", "admin"]);
    expect((await as(both, "POST", "/api/runners/tokens", { ...token, scope: "org" })).status).toBe(
      201,
    );
  });
});

describe("ways in", () => {
  it("are not opened to others with a key: a new person has more rights than any key", async () => {
    const key = await keyOf(KEY_SCOPES);
    for (const role of ["member", "admin"])
      expect(await as(key, "POST", `/api/orgs/${orgId}/invitations`, { role })).toMatchObject({
        status: 403,
        code: "sign_in_needed",
      });
    const { userId } = await join(platform, "Mia");
    const path = `/api/orgs/${orgId}/members/${userId}`;
    expect(await as(key, "PATCH", path, { role: "admin" })).toMatchObject({
      status: 403,
      code: "sign_in_needed",
    });
    expect((await platform.request("PATCH", path, { role: "admin" })).status).toBe(200);
    // An admin's key may take rights away.
    expect((await as(key, "PATCH", path, { role: "member" })).status).toBe(200);
  });

  it("are not given up with a key: its maker would be gone for longer than the key", async () => {
    const ida = await join(platform, "Ida");
    const made = await ida.request<{ key: string }>("POST", "/api/me/api-keys", {
      name: "account",
      scopes: ["account"],
    });
    const path = `/api/orgs/${orgId}/members/${ida.userId}`;
    expect(await as(made.body.key, "DELETE", path)).toMatchObject({
      status: 403,
      code: "sign_in_needed",
    });
    expect((await ida.request("DELETE", path)).status).toBe(200);
  });

  it("made with a key are never wider than the key", async () => {
    const key = await keyOf(["account", "sessions:read"]);
    for (const scope of ["approvals", "runners", "sessions:write", "admin"])
      expect(
        await as(key, "POST", "/api/me/api-keys", { name: "wider", scopes: [scope] }),
      ).toMatchObject({ status: 403, code: "scope_not_yours" });
    const { body } = await as(key, "POST", "/api/auth/links", {});
    const token = new URL(String(body.link)).hash.slice("#token=".length);
    const opened = await postAnonymously(platform, "/api/auth/sign-in", { token });
    const lent = browserOf(platform, "", "", cookieOf(opened));
    const me = await lent.request<{ scopes: string[] }>("GET", "/api/me");
    expect(me.body.scopes).toEqual(["account", "sessions:read"]);
    expect((await lent.request("POST", "/api/runners/tokens", { name: "r" })).status).toBe(403);
    const password = { newPassword: "another horse battery", email: "o@example.org" };
    expect((await lent.request("PUT", "/api/me/password", password)).status).toBe(403);
  });
});
