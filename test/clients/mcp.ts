/** Clients of `/mcp` for journeys: the protocol library's own client, and plain requests. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { connectRunner, type Turn } from "#features/testing/index.ts";
import type { Platform } from "#test/platform.ts";
import { type KeyScope, orgOf } from "./people.ts";

export interface McpAnswer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: whatever a server says
  body: any;
}

/** Sends a request without the library, as an attacker would. */
export async function post(
  platform: Platform,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<McpAnswer> {
  const response = await fetch(`${platform.url}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const data = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  return {
    status: response.status,
    headers: response.headers,
    body: data === "" ? undefined : JSON.parse(data),
  };
}

export const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

export const listing = (id: string | number = 1) => ({ jsonrpc: "2.0", id, method: "tools/list" });

export const calling = (name: string, args: unknown = {}, id: string | number = 1) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args },
});

export async function connect(platform: Platform, secret: string): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(`${platform.url}/mcp`), {
    requestInit: { headers: bearer(secret) },
  });
  // The library's types disagree about absent fields.
  await client.connect(transport as Parameters<Client["connect"]>[0]);
  return client;
}

/** Calls a tool and returns its reply. */
export async function callTool(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
): Promise<{ text: string; isError: boolean; data: Record<string, unknown> }> {
  const answer = await client.callTool({ name, arguments: args });
  const content = answer.content as { type: string; text: string }[];
  return {
    text: content.map(({ text }) => text).join("\n"),
    isError: answer.isError === true,
    data: (answer.structuredContent ?? {}) as Record<string, unknown>,
  };
}

export interface HandRunner {
  /**
   * The next turn of this session; turns of other sessions stay assigned. Leases are renewed until
   * `close`.
   */
  nextTurn(sessionId: string): Promise<Turn>;
  close(): void;
}

const RENEW_MS = 2_000;

/** A runner that the test drives, for sessions with the native runtime. */
export async function handRunner(platform: Platform): Promise<HandRunner> {
  const { orgId } = await orgOf(platform);
  const runner = await connectRunner(platform.server.kernel, orgId);
  const held: Turn[] = [];
  const renewing = setInterval(() => {
    for (const turn of held) turn.renew().catch(() => {});
  }, RENEW_MS);
  return {
    async nextTurn(sessionId) {
      for (;;) {
        const turn = await runner.nextTurn();
        held.push(turn);
        if (turn.assignment.sessionId === sessionId) return turn;
      }
    },
    close: () => clearInterval(renewing),
  };
}

/**
 * Starts a turn in a new session, with its agent's run token. A session that needs children is made
 * a supervisor.
 */
export async function turnOf(
  platform: Platform,
  runner: HandRunner,
  { isSupervisor = false, ...fields }: Record<string, unknown> = {},
): Promise<{ sessionId: string; turn: Turn; token: string }> {
  const make = isSupervisor ? platform.createSupervisor : platform.createSession;
  const { id: sessionId } = await make({ runtime: "native", ...fields });
  await platform.prompt(sessionId, "go");
  const turn = await runner.nextTurn(sessionId);
  return { sessionId, turn, token: turn.assignment.token };
}

export async function apiKey(platform: Platform, scopes: readonly KeyScope[]): Promise<string> {
  const body = { name: "client", scopes: [...scopes] };
  return (await platform.api.me.createApiKey({ body })).key;
}
