/** Requests that an agent may not make are recorded, up to a useful number. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bearer, type HandRunner, handRunner, turnOf } from "#test/clients/mcp.ts";
import { type Platform, startPlatform } from "#test/platform.ts";

let platform: Platform;
let runner: HandRunner;
const logLines: string[] = [];

beforeAll(async () => {
  const env = { MUSTER_RUNTIME: "native", MUSTER_LOG_LEVEL: "warn" };
  platform = await startPlatform({ runner: false, logLines, env });
  runner = await handRunner(platform);
});
afterAll(async () => {
  runner.close();
  await platform.stop();
});

interface Trail {
  items: { action: string; details: Record<string, unknown> }[];
}

describe("an agent's refused requests", () => {
  const told = (sessionId: string) =>
    logLines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter((line) => line.sessionId === sessionId && String(line.msg).startsWith("refused"));
  const trail = async (sessionId: string) => {
    const path = `/api/audit?session=${sessionId}&limit=200`;
    const { items } = (await platform.request<Trail>("GET", path)).body;
    return items.map((item) => JSON.stringify(item)).filter((text) => /request_refused/.test(text));
  };

  it("are in the log and in the audit trail, by code only", async () => {
    const { sessionId, turn, token } = await turnOf(platform, runner);
    const ask = (method: string, path: string, body?: unknown) =>
      platform.request(method, path, body, bearer(token));
    expect((await ask("GET", `/api/sessions/${sessionId}`)).status).toBe(200);
    expect((await ask("POST", "/api/sessions", { title: "SECRET" })).status).toBe(403);
    expect((await ask("GET", "/api/sessions/ses_SECRET")).status).toBe(404);
    expect((await ask("GET", "/api/SECRET")).status).toBe(404);
    const lines = told(sessionId);
    expect(lines).toMatchObject([
      { method: "POST", route: "/api/sessions", code: "forbidden", runId: turn.assignment.run },
      { method: "GET", route: "/api/sessions/:id", code: "not_found" },
      { method: "GET", code: "not_found" },
    ]);
    const rows = await trail(sessionId);
    expect(rows).toHaveLength(3);
    expect(rows.join()).toContain(turn.assignment.run);
    expect(JSON.stringify([lines, rows])).not.toContain("SECRET");
    await turn.end("done");
  });

  it("are recorded up to a limit for each run", async () => {
    const { sessionId, turn, token } = await turnOf(platform, runner);
    for (let n = 0; n < 110; n++)
      await platform.request("GET", "/api/sessions/ses_none", undefined, bearer(token));
    expect(told(sessionId)).toHaveLength(100);
    expect(await trail(sessionId)).toHaveLength(100);
    await turn.end("done");
  });

  it("are recorded for agents only, not for people", async () => {
    const before = logLines.length;
    expect((await platform.request("GET", "/api/sessions/ses_none")).status).toBe(404);
    expect(logLines).toHaveLength(before);
  });
});
