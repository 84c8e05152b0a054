/** Callers of every kind, each with a valid credential; one that lost it gets another. */
import { apiKey, bearer, type HandRunner, handRunner, post, turnOf } from "#test/clients/mcp.ts";
import { join, orgOf } from "#test/clients/people.ts";
import type { Platform } from "#test/platform.ts";
import type { Schema } from "./from-schema.ts";

export interface McpTool {
  name: string;
  inputSchema: Schema;
}

export interface Caller {
  name: string;
  weight: number;
  headers: Record<string, string>;
  tools: readonly McpTool[];
  /** Gets a new credential; absent where nothing can revoke it. */
  renew?(): Promise<void>;
}

export interface Cast {
  callers: readonly Caller[];
  orgId: string;
  /** Ids of the callers' own rows: other callers are not told them, and so cannot remove them. */
  reserved: Set<string>;
  close(): void;
}

/**
 * Must run before the platform has its own runner, so that the agent's turn goes to the one made
 * here.
 */
export async function gatherCallers(platform: Platform): Promise<Cast> {
  const { orgId, ownerId } = await orgOf(platform);
  const reserved = new Set([ownerId]);
  const hand = await handRunner(platform);
  const agent = await agentOf(platform, hand, reserved);
  const runner = await platform.request<{ token: string }>("POST", "/api/runners/tokens", {
    name: "requests",
  });
  const owner = { ...bearer(platform.key) };
  const narrow = bearer(await apiKey(platform, ["mail"]));
  const readOnly = bearer(await apiKey(platform, ["sessions:read", "tasks"]));
  for (const path of ["/api/runners", "/api/runners/tokens", "/api/me/api-keys"]) {
    const { body } = await platform.request<{ items: { id: string }[] }>("GET", path);
    for (const { id } of body.items) reserved.add(id);
  }
  const tools = await listTools(platform, platform.key);
  const callers: Caller[] = [
    { name: "owner", weight: 10, headers: owner, tools },
    await memberOf(platform, reserved, "admin"),
    await memberOf(platform, reserved, "member"),
    { name: "narrow key", weight: 2, headers: narrow, tools },
    { name: "reading key", weight: 2, headers: readOnly, tools },
    { name: "runner", weight: 1, headers: bearer(runner.body.token), tools: [] },
    { name: "agent", weight: 4, headers: bearer(agent), tools: await listTools(platform, agent) },
    { name: "visitor", weight: 1, headers: {}, tools: [] },
    { name: "forger", weight: 1, headers: bearer("mst_\u00ff"), tools: [] },
  ];
  return { callers, orgId, reserved, close: () => hand.close() };
}

async function agentOf(
  platform: Platform,
  hand: HandRunner,
  reserved: Set<string>,
): Promise<string> {
  const { sessionId, token } = await turnOf(platform, hand, { isSupervisor: true });
  reserved.add(sessionId);
  return token;
}

let joined = 0;

async function memberOf(
  platform: Platform,
  reserved: Set<string>,
  role: "admin" | "member",
): Promise<Caller> {
  const caller: Caller = { name: role, weight: 3, headers: {}, tools: [] };
  caller.renew = async () => {
    const person = await join(platform, `person${++joined}`, role).catch(() => undefined);
    // Another request withdrew the invitation; the next 401 asks for a new one.
    if (!person) return;
    reserved.add(person.userId);
    caller.headers = { cookie: person.cookie, origin: platform.url };
  };
  await caller.renew();
  return caller;
}

async function listTools(platform: Platform, secret: string): Promise<McpTool[]> {
  const { body } = await post(
    platform,
    { jsonrpc: "2.0", id: 1, method: "tools/list" },
    bearer(secret),
  );
  return body.result.tools as McpTool[];
}
