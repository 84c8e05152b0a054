import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Retention, Storage } from "#features/storage/contract.ts";
import { createFakeHost, runCommand } from "#test/cli/fake-host.ts";
import { FakeServer, reply } from "#test/cli/fake-server.ts";

const audit: Retention = {
  kind: "audit",
  summary: "Rows of the audit trail",
  days: 400,
  defaultDays: 400,
  minDays: 30,
  isSet: false,
  due: 3,
  dueInWeek: 10_000,
  whyKept: null,
  before: "2026-01-01T00:00:00.000Z",
};
const storage: Storage = {
  at: "2026-01-01T00:00:00.000Z",
  database: { kind: "sqlite", bytes: 5 * 1024 ** 2, freeBytes: 1024 },
  kinds: [
    {
      kind: "transcripts",
      rows: 70,
      bytes: 2048,
      isEstimate: true,
      tables: [{ table: "events", rows: 70, bytes: 2048, isEstimate: true }],
    },
  ],
  largestSessions: [
    { sessionId: "ses_1", ownerId: "usr_1", lifecycle: "active", events: 70, bytes: 2048 },
  ],
  retention: [audit],
  heldUntil: null,
};

let server: FakeServer;
beforeEach(async () => {
  server = await new FakeServer().start();
});
afterEach(() => server.stop());

async function run(...words: string[]) {
  const host = createFakeHost({ env: server.env });
  const code = await runCommand(host, "storage", ...words);
  return { code, out: host.out };
}

describe("muster storage", () => {
  it("shows what takes room and what would go", async () => {
    server.answer("GET", "/api/storage", (_seen, response) => reply(response, 200, storage));
    const { code, out } = await run();
    expect(code).toBe(0);
    expect(out.split("\n")).toEqual([
      "Database: sqlite, 5.0 MiB, 1.0 KiB of it free for new rows",
      "",
      "KIND         SIZE     ROWS",
      "transcripts  2.0 KiB  ~70   events 2.0 KiB",
      "",
      "LONGEST LOGS  EVENTS  ABOUT    STATE",
      "ses_1         70      2.0 KiB  active",
      "",
      "KEPT   DAYS           DUE NOW  DUE WITHIN A WEEK",
      "audit  400 (default)  3        10000 or more      Rows of the audit trail",
      "",
    ]);
    expect(JSON.parse((await run("--json")).out)).toEqual(storage);
  });

  it("says until when a restored database is left alone, and why rows stay that are due", async () => {
    const stuck = { ...audit, whyKept: "Row 1 is dated later." };
    const held = { ...storage, retention: [stuck], heldUntil: "2026-01-02T00:00:00.000Z" };
    server.answer("GET", "/api/storage", (_seen, response) => reply(response, 200, held));
    const { out } = await run();
    expect(out).toContain("audit: Row 1 is dated later.");
    expect(out).toContain(
      "The database was restored: nothing is removed before 2026-01-02T00:00:00.000Z.",
    );
  });

  it.each([
    ["30", 30],
    ["forever", null],
    ["default", "default"],
  ])("keeps a kind for %s", async (given, days) => {
    server.answer("PUT", "/api/retention/audit", (_seen, response) =>
      reply(response, 200, { items: [audit] }),
    );
    expect((await run("keep", "audit", given)).code).toBe(0);
    const [request] = server.requests("PUT", "/api/retention/audit");
    expect(request?.body).toEqual({ days });
  });

  it.each(["-1", "1.5", "soon", ""])("refuses %j, which is no number of days", async (given) => {
    expect((await run("keep", "audit", "--", given)).code).not.toBe(0);
    expect(server.requests("PUT", "/api/retention/audit")).toEqual([]);
  });
});
