import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Run } from "#protocol/runs.ts";
import type { Session } from "#protocol/sessions.ts";
import { join } from "#test/clients/people.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";

const REPO = "https://example.org/a.git";

/** The two routes that create a session under a parent, and their refusals. */
function story(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let platform: Platform;

    beforeAll(async () => {
      platform = await startPlatform({ database });
    });
    afterAll(() => platform.stop());

    const doors = ["/api/sessions", "/api/runs"] as const;
    const bodyFor = (door: (typeof doors)[number], fields: object) =>
      door === "/api/runs" ? { type: "start_session", prompt: "say hi", ...fields } : fields;
    const spawn = (door: (typeof doors)[number], fields: object, by = platform.request) =>
      by<{ session?: Session; run?: Run; error?: { code: string } }>(
        "POST",
        door,
        bodyFor(door, { runtime: "scripted", ...fields }),
      );
    const lead = async (fields: Record<string, unknown> = {}) =>
      (await platform.createSupervisor(fields)).id;
    const childrenOf = async (id: string) =>
      (await platform.api.sessions.list({ query: { parent: id } })).items;

    for (const door of doors) {
      it(`${door} refuses a parent that was archived or terminated`, async () => {
        for (const end of ["archive", "terminate"] as const) {
          const parentSessionId = await lead();
          await platform.api.sessions[end]({ id: parentSessionId });
          expect(await spawn(door, { parentSessionId })).toMatchObject({
            status: 409,
            body: { error: { code: "session_not_active" } },
          });
          expect(await childrenOf(parentSessionId)).toEqual([]);
        }
      });

      it(`${door} refuses another person's parent like a missing one`, async () => {
        const parentSessionId = await lead();
        const ann = await join(platform, `Ann${doors.indexOf(door)}`);
        const foreign = await spawn(door, { parentSessionId }, ann.request);
        const missing = await spawn(door, { parentSessionId: "ses_01missing" }, ann.request);
        expect(foreign.status).toBe(404);
        expect(foreign.body).toEqual(missing.body);
        expect(foreign.body.error?.code).toBe("supervisor_not_found");
        expect(await childrenOf(parentSessionId)).toEqual([]);
      });

      it(`${door} refuses a parent without supervisor mode`, async () => {
        const { id: parentSessionId } = await platform.createSession();
        expect(await spawn(door, { parentSessionId })).toMatchObject({
          status: 409,
          body: { error: { code: "supervisor_mode_off" } },
        });
        expect(await childrenOf(parentSessionId)).toEqual([]);
      });

      it(`${door} refuses a worker of a worker`, async () => {
        const parentSessionId = await lead();
        const first = await spawn(door, { parentSessionId });
        const worker = first.body.session?.id ?? first.body.run?.sessionId ?? "";
        expect(await spawn(door, { parentSessionId: worker })).toMatchObject({
          status: 409,
          body: { error: { code: "depth_limit_exceeded" } },
        });
      });

      it(`${door} keeps a worker in its supervisor's project`, async () => {
        const parentSessionId = await lead({ repo: REPO, branch: "b" });
        const fields = door === "/api/runs" ? { projectDir: "/srv" } : { repo: `${REPO}x` };
        expect(await spawn(door, { parentSessionId, ...fields })).toMatchObject({
          status: 409,
          body: { error: { code: "different_project" } },
        });
        expect(await childrenOf(parentSessionId)).toEqual([]);
        expect((await spawn(door, { parentSessionId })).status).toBe(201);
        expect(await childrenOf(parentSessionId)).toMatchObject([{ repo: REPO, branch: "b" }]);
      });
    }

    it("lets a program notify any session of its owner when a run has ended", async () => {
      const { id: parentSessionId } = await platform.createSession();
      const callback = { parentSessionId, executionMode: "async_callback" };
      expect((await spawn("/api/runs", callback)).status).toBe(201);
      await platform.api.sessions.archive({ id: parentSessionId, body: { force: true } });
      expect(await spawn("/api/runs", callback)).toMatchObject({
        status: 409,
        body: { error: { code: "session_not_active" } },
      });
    });
  });
}

story("making children on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a PostgreSQL server", () => {
  story("making children on postgres", createTestDatabase);
});

describe("a server without supervisor mode", () => {
  it("creates no workers by either route", async () => {
    const platform = await startPlatform({ env: { ORCHESTRATION_DISABLED: "true" } });
    try {
      const { id: parentSessionId } = await platform.createSession();
      const run = { type: "start_session", prompt: "say hi", parentSessionId };
      const refused = { status: 403, body: { error: { code: "orchestration_disabled" } } };
      expect(await platform.request("POST", "/api/sessions", { parentSessionId })).toMatchObject(
        refused,
      );
      expect(await platform.request("POST", "/api/runs", run)).toMatchObject(refused);
      await platform.api.orchestrators.create();
      await platform.createSession({ parentSessionId: "orchestrator" });
    } finally {
      await platform.stop();
    }
  });
});
