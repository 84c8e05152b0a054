import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { MailMessage } from "#features/mailbox/contract.ts";
import { createFakeHost, type FakeHostOptions, runCommand } from "#test/cli/fake-host.ts";
import { FakeServer, reply } from "#test/cli/fake-server.ts";

const INBOX = "/api/me/inbox";
const message: MailMessage = {
  id: "msg_1",
  threadId: "msg_0",
  replyToId: "msg_0",
  from: { kind: "session", id: "ses_1", name: "Counter\u001b[31m", handle: null },
  to: { kind: "user", id: "usr_1", name: "Ann", handle: null },
  messageType: "question",
  eventType: null,
  content: "Which\nserver? \u001b]0;x\u0007",
  contextSessionId: "ses_1",
  contextTaskId: null,
  contextRef: null,
  decision: null,
  contextUrl: null,
  fate: "delivered",
  fateReason: null,
  mayLetThrough: false,
  letThroughAt: null,
  read: false,
  readAt: null,
  archivedAt: null,
  snoozedUntil: null,
  createdAt: new Date().toISOString(),
};

const me = { user: { id: "usr_1", name: "Ann" }, org: { id: "org_1" } };

let server: FakeServer;
beforeEach(async () => {
  server = await new FakeServer().start();
});
afterEach(() => server.stop());

async function run(words: string[], options: FakeHostOptions = {}) {
  const host = createFakeHost({ env: server.env, ...options });
  const code = await runCommand(host, "inbox", ...words);
  return { code, out: host.out, err: host.err };
}
const answers = (method: "GET" | "POST" | "PATCH" | "PUT", path: string, body: unknown) =>
  server.answer(method, path, (_seen, response) => reply(response, 200, body));
const bodies = (method: string, path: string) =>
  server.requests(method, path).map(({ body }) => body);

describe("muster inbox", () => {
  it("lists messages by what is asked for, with nothing that commands a terminal", async () => {
    const decided = { ...message, id: "msg_2", read: true, decision: "answered" };
    answers("GET", INBOX, { items: [message, decided], next: "x" });
    const listed = await run([]);
    expect(listed.out).toMatch(
      /\* +msg_1 +just now +question +Counter<U\+001B>\[31m +Which server\?/,
    );
    expect(listed.out).toMatch(/^ +msg_2 +just now +question, answered /m);
    expect(listed.out).toContain("There are more");
    expect(listed.out).not.toContain("\u001b");
    const filters = ["--type", "question", "--unread", "--session", "ses_1", "--limit", "5"];
    expect((await run(["ls", "--box", "all", ...filters])).code).toBe(0);
    expect(server.requests("GET", INBOX).map(({ query }) => query)).toEqual([
      { box: "inbox", limit: "30" },
      {
        box: "all",
        limit: "5",
        messageType: "question",
        contextSessionId: "ses_1",
        unreadOnly: "true",
      },
    ]);
    expect(JSON.parse((await run(["ls", "--json"])).out)).toMatchObject({ next: "x" });
    expect((await run(["ls", "--type", "spam"])).code).toBe(2);
    expect((await run(["ls", "--limit", "0"])).code).toBe(2);
    answers("GET", INBOX, { items: [], next: null });
    expect((await run(["ls", "--box", "archived"])).out).toContain("No messages");
  });

  it("counts, and shows an exchange", async () => {
    answers("GET", `${INBOX}/count`, { count: 3 });
    expect((await run(["count"])).out).toBe("3\n");
    answers("GET", `${INBOX}/msg_1`, { message });
    answers("GET", "/api/me", me);
    const failed = { fate: "failed", fateReason: "hop_limit" } as const;
    const items = [{ ...message, id: "msg_0", content: "Deploy it", ...failed }, message];
    answers("GET", `${INBOX}-threads/msg_0`, { items, next: null });
    const { out } = await run(["show", "msg_1"]);
    expect(out).toMatch(
      /not delivered: hop_limit\n {2}│ Deploy it\n[\s\S]*│ Which\n {2}│ server\?/,
    );
    expect(out).toContain("muster inbox reply msg_1");
    expect((await run(["show", "msg_1"])).err).toBe("");
    expect(out).not.toContain("\u001b");
    expect(JSON.parse((await run(["thread", "msg_1", "--json"])).out).items).toHaveLength(2);
  });

  it("advises to answer what one was sent, and never what one wrote or what is settled", async () => {
    answers("GET", "/api/me", me);
    const mine = { ...message, id: "msg_9", from: message.to, to: message.from };
    const shown = async (...items: MailMessage[]) => {
      answers("GET", `${INBOX}/msg_9`, { message: mine });
      answers("GET", `${INBOX}-threads/msg_0`, { items, next: null });
      return (await run(["show", "msg_9"])).out.trimEnd().split("\n").at(-1);
    };
    expect(await shown(mine)).toContain("server?");
    expect(await shown(message, mine)).toBe("Reply with: muster inbox reply msg_1");
    const asked = { ...message, contextRef: "approval:apr_1" };
    const approval = { id: "apr_1", kind: "approval", state: "pending" };
    answers("GET", "/api/approvals/apr_1", { approval });
    expect(await shown(asked)).toBe("Decide with: muster approvals show apr_1");
    answers("GET", "/api/approvals/apr_1", { approval: { ...approval, kind: "question" } });
    expect(await shown(asked)).toBe("Reply with: muster inbox reply msg_1");
    const decided = { state: "decided", decision: "deny", decidedBy: "usr_1" };
    answers("GET", "/api/approvals/apr_1", { approval: { ...approval, ...decided } });
    expect(await shown(asked)).toBe("Not allowed.");
    server.refuse("GET", "/api/approvals/apr_1", 403, "forbidden");
    expect(await shown(asked)).toBe("Reply with: muster inbox reply msg_1");
  });

  it("keeps the list of people who may write to one's agent", async () => {
    const CONTACTS = "/api/me/mail-contacts";
    answers("GET", "/api/me", me);
    const bea = { userId: "usr_2", name: "Bea", email: "bea@example.com" };
    const members = [{ userId: "usr_1", name: "Ann" }, bea, { userId: "usr_3", name: "Cid" }];
    answers("GET", "/api/orgs/org_1/members", { items: members, next: null });
    answers("GET", CONTACTS, { items: [] });
    answers("GET", "/api/me/orchestrator", { identity: { acceptsAgentMail: "none" } });
    const empty = await run(["contacts"]);
    expect(empty.out).toContain("There are no contacts");
    expect(empty.err).toContain("muster orchestrator set --mail list");
    answers("GET", CONTACTS, { items: [bea] });
    answers("PUT", CONTACTS, { items: [bea] });
    expect((await run(["contacts", "add", "cid", "bea@example.com"])).out).toMatch(/usr_2 +Bea/);
    expect((await run(["contacts", "rm", "Bea"])).code).toBe(0);
    expect(bodies("PUT", CONTACTS)).toEqual([{ userIds: ["usr_2", "usr_3"] }, { userIds: [] }]);
    expect((await run(["contacts", "add", "Zoe"])).code).toBe(6);
    expect((await run(["contacts", "add", "Ann"])).code).toBe(6);
    expect(JSON.parse((await run(["contacts", "--json"])).out)).toEqual({ items: [bea] });
  });

  it("writes and answers, from words or from what is piped in", async () => {
    answers("POST", "/api/messages", { message: { ...message, fate: "waiting" } });
    answers("POST", `${INBOX}/msg_1/reply`, { message });
    const sent = await run(["send", "@jarvis", "Look at this", "--type", "question", "--ref", "r"]);
    expect(sent.out).toContain("msg_1 to Ann. Waiting for its agent to read it.");
    expect((await run(["reply", "msg_1"], { input: "prod\n" })).out).toContain("Delivered.");
    expect((await run(["send", "A session", "Hi", "--session", "a sess"])).code).toBe(0);
    expect((await run(["send", "nobody", "Hi"])).code).toBe(0);
    expect(bodies("POST", "/api/messages")).toEqual([
      { to: "@jarvis", content: "Look at this", messageType: "question", contextRef: "r" },
      { to: "ses_1", content: "Hi", contextSessionId: "ses_1" },
      { to: "nobody", content: "Hi" },
    ]);
    expect(bodies("POST", `${INBOX}/msg_1/reply`)).toEqual([{ content: "prod" }]);
    expect((await run(["reply", "msg_1"], { input: "" })).code).toBe(2);
  });

  it("reads, puts away and puts off", async () => {
    answers("PATCH", `${INBOX}/msg_1`, { message });
    answers("PUT", `${INBOX}/read-all`, { changed: 2 });
    answers("PUT", `${INBOX}/read-non-actionable`, { changed: 1 });
    for (const name of ["read", "unread", "archive", "unarchive"])
      expect((await run([name, "msg_1"])).code).toBe(0);
    expect((await run(["snooze", "msg_1", "2h"])).out).toMatch(/msg_1 returns 20/);
    expect((await run(["snooze", "msg_1", "now"])).code).toBe(0);
    expect((await run(["snooze", "msg_1", "whenever"])).code).toBe(2);
    expect((await run(["snooze", "msg_1", "2030-02-31T09:00"])).code).toBe(2);
    const [read, unread, archive, unarchive, snooze, back] = bodies("PATCH", `${INBOX}/msg_1`);
    expect([read, unread, archive, unarchive, back]).toEqual([
      { read: true },
      { read: false },
      { archived: true },
      { archived: false },
      { snoozedUntil: null },
    ]);
    const until = Date.parse((snooze as { snoozedUntil: string }).snoozedUntil);
    expect(Math.abs(until - Date.now() - 2 * 60 * 60_000)).toBeLessThan(60_000);
    expect((await run(["read-all"])).out).toBe("2 messages marked as read.\n");
    for (const option of ["--updates", "--news"])
      expect((await run(["read-all", option])).out).toBe("1 message marked as read.\n");
  });
});
