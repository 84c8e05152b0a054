/** Requirements of a session's first run, and the folder its runner works in, hold for later prompts. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { owner, startWorld, type World } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";

function suite(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let world: World;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      world = await startWorld([], made?.url);
    });
    afterAll(async () => {
      await world.stop();
      await made?.drop();
    });
    const runsOf = async (sessionId: string) =>
      (await world.kernel.runs.list(owner, sessionId, { limit: 10 })).items.map(
        ({ demands }) => demands,
      );
    const begin = async (demands: object) => {
      const { sessionId } = await world.kernel.runs.create(owner, {
        type: "start_session",
        prompt: "go",
        executionMode: "async_poll",
        demands,
      });
      return { sessionId, turn: await world.nextTurn() };
    };
    const execute = (sql: string) =>
      world.kernel.engine.store.transaction((tx) => tx.execute({ sql, parameters: [] }));

    it("keeps them for later prompts; a run may ask for more, for itself alone", async () => {
      const demands = { profile: "default", hostname: "h" };
      const { sessionId, turn } = await begin(demands);
      await turn.end("ok");
      await (await world.startTurn(sessionId)).end("ok");
      await world.kernel.runs.create(owner, {
        type: "resume_session",
        sessionId,
        prompt: "once",
        executionMode: "async_poll",
        demands: { tags: [] },
      });
      await (await world.nextTurn()).end("ok");
      await (await world.startTurn(sessionId)).end("ok");
      expect((await runsOf(sessionId)).map(({ tags, ...rest }) => rest)).toEqual(
        Array.from({ length: 4 }, () => demands),
      );
      expect((await runsOf(sessionId)).filter(({ tags }) => tags !== undefined)).toHaveLength(1);
    });

    const make = async (fields: object) => {
      const id = await world.createSession({ ...fields, prompt: "go" });
      await (await world.nextTurn()).end("ok");
      return id;
    };

    it("sends a session with a folder to a runner of that folder, from its first turn", async () => {
      await execute("update runners set project_dir = '/srv/app'");
      // The connected runner registered without a folder, so it is not given this run.
      const tied = await world.createSession({ projectDir: "/srv/app", prompt: "go" });
      // No known machine has the folder: any may take the run.
      expect(await runsOf(await make({ projectDir: "/srv/other" }))).toEqual([{}]);
      expect(await runsOf(tied)).toEqual([{ projectDir: "/srv/app" }]);
      await world.kernel.sessions.terminate(owner, tied);
      // A member's machine that claims the folder blocks nobody else's sessions.
      await execute("update runners set scope = 'user:usr_9'");
      expect(await runsOf(await make({ projectDir: "/srv/app" }))).toEqual([{}]);
      // Neither does a machine that was not seen for long.
      const { clock } = world.kernel.engine;
      const change = (state: string, at: number) =>
        execute(`update runners set scope = 'org', state = '${state}', last_seen_at = ${at}`);
      await change("offline", 0);
      const late = await world.createSession({ projectDir: "/srv/app", prompt: "go" });
      expect(await runsOf(late)).toEqual([{}]);
      await change("online", clock.now());
      await (await world.nextTurn()).end("ok");
      await execute("update runners set project_dir = null");
    });

    it("sends a worker in its supervisor's folder to the supervisor's machine", async () => {
      const parentSessionId = await make({ projectDir: "/srv/app" });
      const makeChild = (projectDir: string) => make({ parentSessionId, projectDir });
      expect(await runsOf(await makeChild("/srv/app"))).toEqual([{ hostname: "h" }]);
      expect(await runsOf(await makeChild("/srv/b"))).toEqual([{}]);
    });

    it("stores the folder of the runner that works for it, and asks for it from then on", async () => {
      const bind = (projectDir: string | null) => ({
        executorSessionId: "x",
        executorType: "native",
        executorProfile: "fast",
        projectDir,
      });
      await execute("update runners set project_dir = '/srv/app'");
      const { sessionId, turn } = await begin({});
      // A folder that is not the runner's own would leave the session without a runner.
      await turn.bind(bind("/elsewhere"));
      expect((await world.kernel.sessions.get(owner, sessionId)).projectDir).toBeNull();
      await turn.bind(bind("/srv/app"));
      await turn.bind(bind(null));
      expect(await world.kernel.sessions.get(owner, sessionId)).toMatchObject({
        projectDir: "/srv/app",
        executorProfile: "fast",
      });
      await turn.end("ok");
      await world.kernel.prompts.admit(owner, sessionId, {
        content: "again",
        mode: "followup",
        thread: "main",
        attachments: [],
      });
      expect((await runsOf(sessionId)).at(0)).toMatchObject({ projectDir: "/srv/app" });
    });
  });
}

suite("on SQLite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("on PostgreSQL", createTestDatabase);
});
