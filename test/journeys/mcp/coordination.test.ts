/** A person's boards and inbox over MCP, by the scopes of their key. */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiKey, callTool, connect } from "#test/clients/mcp.ts";
import { type Browser, join, type KeyScope, orgOf } from "#test/clients/people.ts";
import { type Platform, startPlatform } from "#test/platform.ts";

interface Shown {
  unread: number;
  messages: { id: string; content: string; read: boolean; from: { name: string } }[];
}

describe("boards and the inbox over MCP", () => {
  let platform: Platform;
  let ownerId: string;
  let ann: Browser;
  const clients: Client[] = [];

  beforeAll(async () => {
    platform = await startPlatform({ runner: false });
    ({ ownerId } = await orgOf(platform));
    ann = await join(platform, "Ann");
  });
  afterAll(async () => {
    for (const client of clients) await client.close();
    await platform.stop();
  });

  async function clientOf(scopes: KeyScope[]): Promise<Client> {
    const client = await connect(platform, await apiKey(platform, scopes));
    clients.push(client);
    return client;
  }
  const namesOf = async (client: Client) =>
    (await client.listTools()).tools.map(({ name }) => name);
  const read = async (client: Client, input: Record<string, unknown> = {}) =>
    (await callTool(client, "read_inbox", input)).data as unknown as Shown;

  it("are offered only to a key with the scope for them", async () => {
    expect(await namesOf(await clientOf(["tasks"]))).toEqual(["list_tasks"]);
    expect(await namesOf(await clientOf(["mail"]))).toEqual(["read_inbox"]);
    const sessions = await clientOf(["sessions:read", "sessions:write", "memory"]);
    const names = await namesOf(sessions);
    expect(names).not.toContain("list_tasks");
    expect(names).not.toContain("read_inbox");
    for (const name of ["list_tasks", "read_inbox"])
      expect(await callTool(sessions, name, {})).toMatchObject({ isError: true });
  });

  it("lists the tasks of the orchestrator's board or a session's, by status", async () => {
    const client = await clientOf(["tasks"]);
    const none = await callTool(client, "list_tasks", {});
    expect(none.isError).toBe(true);
    await platform.request("POST", "/api/me/orchestrator", {});
    const board = `orchestrator:${ownerId}`;
    const add = async (path: string, title: string) =>
      (
        await platform.request<{ task: { id: string } }>("POST", `/api/sessions/${path}/tasks`, {
          title,
        })
      ).body.task.id;
    const first = await add(board, "first");
    const second = await add(board, "second");
    await platform.request("PUT", `/api/sessions/${board}/tasks/${first}`, { status: "completed" });
    const { id } = await platform.createSession({ runtime: "echo" });
    const elsewhere = await add(id, "elsewhere");
    const ids = async (input: Record<string, unknown>) => {
      const { data } = await callTool(client, "list_tasks", input);
      const { tasks } = data as unknown as { tasks: { id: string }[] };
      return tasks.map((task) => task.id);
    };
    expect(await ids({})).toEqual([first, second]);
    expect(await ids({ sessionId: "orchestrator", status: ["pending"] })).toEqual([second]);
    expect(await ids({ limit: 1 })).toEqual([first]);
    expect(await ids({ sessionId: id })).toEqual([elsewhere]);
    const { body } = await ann.request<{ session: { id: string } }>("POST", "/api/sessions", {
      runtime: "echo",
    });
    const foreign = await callTool(client, "list_tasks", { sessionId: body.session.id });
    expect(foreign.isError).toBe(true);
  });

  it("shows messages, unread first, and marks them read only when asked to", async () => {
    const client = await clientOf(["mail"]);
    const write = async (content: string) =>
      (
        await ann.request<{ message: { id: string } }>("POST", "/api/messages", {
          to: ownerId,
          content,
        })
      ).body.message.id;
    const [old, fresh, long] = [
      await write("old"),
      await write("fresh"),
      await write("long ".repeat(2_000)),
    ];
    await platform.request("PUT", `/api/me/inbox/${long}/read`);
    const seen = await read(client);
    expect(seen.unread).toBe(2);
    expect(seen.messages.map(({ id }) => id)).toEqual([fresh, old, long]);
    expect(seen.messages.map((message) => message.read)).toEqual([false, false, true]);
    expect(seen.messages[0]?.from.name).toBe("Ann");
    expect(seen.messages[2]?.content.length).toBeLessThan(5_000);
    expect((await read(client, { unreadOnly: true })).messages).toHaveLength(2);
    expect((await read(client, { limit: 1, markRead: true })).messages[0]?.id).toBe(fresh);
    const after = await read(client);
    expect(after.unread).toBe(1);
    expect(after.messages.map(({ id }) => id)[0]).toBe(old);
  });
});
