/**
 * A machine that holds a session's files is gone: the session says so, continues elsewhere, and
 * keeps everything that was recorded.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningRunner } from "#main/runner/runner.ts";
import { type ModelServer, startModelServer } from "#test/model-server/model-server.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import "#test/services/bubblewrap.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";

const PATIENT = { timeout: 30_000, interval: 50 };

function story(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let platform: Platform;
    let model: ModelServer;
    let first: RunningRunner;
    let second: RunningRunner | undefined;
    beforeAll(async () => {
      model = await startModelServer();
      platform = await startPlatform({
        database,
        runner: false,
        env: {
          MUSTER_MODEL: "anthropic/test-1",
          ANTHROPIC_API_KEY: "key",
          ANTHROPIC_BASE_URL: model.url,
        },
      });
      first = await platform.startRunner("first");
    });
    afterAll(async () => {
      await second?.stop();
      await platform.stop();
      await model.close();
    });

    const bash = (command: string) => `CALL bash ${JSON.stringify({ command })}`;
    const see = async (id: string) => (await platform.api.sessions.get({ id })).session;
    const relocate = (id: string) => platform.request("POST", `/api/sessions/${id}/relocate`, {});
    const outputs = async (id: string) =>
      (await platform.events(id))
        .filter(({ type }) => type === "post_tool")
        .map(({ toolOutput }) => JSON.stringify(toolOutput));

    it("continues with the recorded files on another machine, and the old files are removed", async () => {
      const { id } = await platform.createSession({ runtime: "native" });
      const write = await platform.prompt(id, bash("echo kept > made.txt; echo hello"));
      await platform.promptIn(write.id, "settled");
      expect(await see(id)).toMatchObject({ activity: "done", waitingFor: null });
      expect(await relocate(id)).toMatchObject({
        status: 409,
        body: { error: { code: "workspace_online" } },
      });

      await first.stop();
      const machines = async () => (await platform.api.runners.list()).items;
      await expect.poll(async () => (await machines())[0]?.state, PATIENT).toBe("offline");
      const read = await platform.prompt(id, bash("cat made.txt"));
      await expect.poll(async () => (await see(id)).waitingFor?.kind, PATIENT).toBe("machine");
      second = await platform.startRunner("second");
      // A second machine alone changes nothing: it does not have the files.
      expect(await see(id)).toMatchObject({ activity: "waiting", waitingFor: { kind: "machine" } });
      expect(await relocate(id)).toMatchObject({ status: 200, body: { session: { id } } });
      const settled = await platform.promptIn(read.id, "settled");
      expect(settled).toMatchObject({ outcome: "completed" });
      expect((await outputs(id)).at(-1)).toContain("kept");
      const asked = JSON.stringify(model.requests.at(-1));
      expect(asked).toContain("[workspace] The machine with this session's files is gone");
      expect(asked).toContain("made.txt");

      first = await platform.startRunner("first");
      const home = platform.config.home;
      const folders = (kind: string) => readdirSync(join(home, "first", kind));
      await expect.poll(() => folders("removed").length, PATIENT).toBe(1);
      expect(folders("workspaces")).toEqual([]);
      const again = await platform.prompt(id, bash("cat made.txt && echo still here"));
      await platform.promptIn(again.id, "settled");
      expect((await outputs(id)).at(-1)).toContain("still here");
      // Turns go to the machine that holds the files now.
      expect(folders("workspaces")).toEqual([]);
    });
  });
}

story("a lost machine, on SQLite", async () => undefined);
describe.skipIf(!postgresUrl)("with a PostgreSQL server", () => {
  story("a lost machine, on PostgreSQL", () => createTestDatabase());
});
