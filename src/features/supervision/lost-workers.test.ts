/** Workers that lose their supervisor, long results, and runs that report to a parent. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createDelegation } from "#features/delegation/index.ts";
import { FakeSessionTree } from "#features/fake-session-tree/index.ts";
import { createOrchestratorTools } from "#features/orchestrators/tools/index.ts";
import { policy } from "#features/policy/index.ts";
import { tasks } from "#features/tasks/index.ts";
import { asks, ended, owner, startWorld, type Turn } from "#features/testing/index.ts";
import type { JournalItem } from "#protocol/events.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { createSupervision } from "./index.ts";

const said = (text: string): JournalItem => ({
  type: "message",
  entryId: "ent_said",
  kind: "text",
  text,
});

interface Piece {
  text: string;
  length: number;
  nextOffset: number | null;
}

function suite(title: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(title, () => {
    let at: FakeSessionTree;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      const features = [
        createDelegation(),
        createSupervision({ workersPerSupervisor: 5 }),
        { name: "orchestrators", tools: createOrchestratorTools({}) },
        tasks,
        policy,
      ];
      at = new FakeSessionTree(await startWorld(features, made?.url));
    });
    afterEach(() => at.end());
    afterAll(async () => {
      await at.world.stop();
      await made?.drop();
    });

    /** A run that reports to a parent, and its turn. */
    const callback = async (family: FakeSessionTree, parentSessionId: string, prompt: string) => {
      const { sessionId } = await family.world.kernel.runs.create(owner, {
        type: "start_session",
        prompt,
        parentSessionId,
        executionMode: "async_callback",
        demands: {},
      });
      return family.turnOf(sessionId);
    };
    const sessions = () => at.world.kernel.sessions;
    const team = async () => {
      const leadId = await at.world.createSession({ title: "lead" });
      await at.world.as(owner).supervision.enable({ id: leadId });
      const turn = await at.prompt(leadId);
      const spawn = async (name: string) => {
        const input = { name, initialPrompt: `do ${name}` };
        const { output, error } = await turn.tool("orchestrate_spawn_worker", input);
        expect(error).toBeNull();
        return (output as { workerId: string }).workerId;
      };
      const workers = [await spawn("a"), await spawn("b")] as [string, string];
      const turns = [await at.turnOf(workers[0]), await at.turnOf(workers[1])] as [Turn, Turn];
      return { leadId, turn, workers, turns };
    };

    it("ends its workers with a supervisor that is archived, and only by force while they work", async () => {
      const { leadId, turn, workers, turns } = await team();
      await at.settle(turn, { outcome: "completed" });
      await expect(sessions().archive(owner, leadId, false)).rejects.toMatchObject({
        code: "session_busy",
        message: expect.stringContaining(workers[0]),
      });
      expect((await at.session(leadId)).lifecycle).toBe("active");
      await sessions().archive(owner, leadId, true);
      for (const work of turns) await at.settle(work, { outcome: "aborted" });
      for (const id of [leadId, ...workers])
        expect(await at.session(id)).toMatchObject({ lifecycle: "archived" });
      // The supervisor is not notified of an end that its owner applied to the whole tree.
      await sessions().wake(owner, leadId);
      expect(await at.inbox(leadId)).toEqual([]);
    });

    it("detaches them instead, when that is asked for", async () => {
      const { leadId, turn, workers, turns } = await team();
      await at.settle(turn, { outcome: "completed" });
      await sessions().archive(owner, leadId, false, "detach");
      for (const id of workers)
        expect(await at.row(id)).toMatchObject({
          lifecycle: "active",
          parent_session_id: null,
          root_session_id: id,
        });
      for (const work of turns) await at.settle(work, { outcome: "completed", result: "alone" });
      expect(await at.inbox(leadId)).toEqual([]);
    });

    it("finds the newest message behind any number of tool calls, and counts messages", async () => {
      const { turn, workers, turns } = await team();
      const [workerId] = workers;
      const [work] = turns;
      await work.journal([said("I begin.")]);
      for (let from = 0; from < 600; from += 100)
        await work.journal(
          Array.from({ length: 100 }, (_, n) => [
            asks(`c${from + n}`, "bash", { command: "ls" }),
            ended(`c${from + n}`, "bash"),
          ]).flat(),
        );
      const read = await turn.tool("orchestrate_read_worker", { workerId });
      expect(read.output).toContain("I begin.");
      const { output } = await turn.tool("orchestrate_list_workers", {});
      expect(output).toMatchObject({
        workers: [
          { workerId, messages: 2 },
          { workerId: workers[1], messages: 1 },
        ],
      });
    });

    it.each([
      ["an orchestrator", true, "read_messages"],
      ["a supervisor", false, "orchestrate_read_worker"],
    ] as const)("lets %s read a long result to its end", async (_who, isOrchestrator, tool) => {
      const result = Array.from({ length: 12_000 }, (_, n) => `${n} 🙂`).join("\n");
      const supervised = async () => {
        const { leadId: parentId, turn, turns } = await team();
        await at.settle(turn, { outcome: "completed" });
        return { parentId, turn: turns[0] };
      };
      const made = isOrchestrator ? await at.createParentAndChild() : await supervised();
      const { parentId: leadId, turn: work } = made;
      await at.settle(work, { outcome: "completed", result });
      const woken = await at.turnOf(leadId);
      const note =
        /(\d+) of (\d+) characters are missing here\. Read on with (\S+) (\{.*\})\./.exec(
          woken.assignment.content,
        );
      expect(note?.[3]).toBe(tool);
      expect(Number(note?.[2])).toBe(result.length);
      const input = JSON.parse(note?.[4] ?? "{}") as { offset: number };
      expect(Number(note?.[1])).toBe(result.length - input.offset);
      const shown = woken.assignment.content.split("\n").filter((line) => line.startsWith("> "));
      let text = shown.map((line) => line.slice(2)).join("\n");
      expect(text).toBe(result.slice(0, input.offset));
      let next: number | null = input.offset;
      while (next !== null) {
        const { output } = await woken.tool(tool, { ...input, offset: next });
        const piece = output as Piece;
        expect(piece.length).toBe(result.length);
        text += piece.text.replace(/^> /, "").replaceAll("\n> ", "\n");
        next = piece.nextOffset;
      }
      expect(text).toBe(result);
      const wrong = { ...input, promptId: "pmt_none" };
      expect((await woken.tool(tool, wrong)).error).toContain("said nothing there");
    });

    it("notifies a parent of async_callback runs in its inbox, together and once", async () => {
      const parentId = await at.parent();
      const busy = await at.prompt(parentId);
      const first = await callback(at, parentId, "one");
      const second = await callback(at, parentId, "two");
      await at.settle(first, { outcome: "completed", result: "first result" });
      await at.settle(second, { outcome: "aborted" });
      expect(await at.inbox(parentId)).toMatchObject([
        { type: "worker.stopped_without_end", delivered: false },
        { type: "worker.ended", delivered: false, payload: { text: "first result" } },
      ]);
      await at.settle(busy, { outcome: "completed" });
      const woken = await at.turnOf(parentId);
      expect(woken.assignment.content).toMatch(/^\[orchestration\] 2 events/);
      expect(woken.assignment.content).toContain("> first result");
      await at.settle(woken, { outcome: "completed" });
      expect(await at.wakes(parentId)).toHaveLength(1);
    });

    it("lets a run go on by itself whose parent, no supervisor, is archived", async () => {
      const parentId = await at.world.createSession();
      const run = await callback(at, parentId, "one");
      await sessions().archive(owner, parentId, false);
      expect(await at.row(run.assignment.sessionId)).toMatchObject({
        lifecycle: "active",
        parent_session_id: null,
      });
      await at.settle(run, { outcome: "completed", result: "done" });
      const events = await sessions().events(run.assignment.sessionId, 0, 100);
      expect(events.map(({ reason }) => reason)).toContain("callback_undeliverable");
    });

    it("holds a callback back while no person has spoken for too long", async () => {
      const alone = new FakeSessionTree(
        await startWorld([createDelegation({ unattendedTurns: 1 })]),
      );
      const parentId = await alone.parent();
      await alone.settle(await alone.prompt(parentId), { outcome: "completed" });
      const first = await callback(alone, parentId, "one");
      const second = await callback(alone, parentId, "two");
      await alone.settle(first, { outcome: "completed", result: "first" });
      await alone.settle(await alone.turnOf(parentId), { outcome: "completed" });
      await alone.settle(second, { outcome: "completed", result: "second" });
      expect(await alone.arrived()).toEqual([]);
      const spoken = await alone.prompt(parentId, "go on");
      await alone.settle(spoken, { outcome: "completed" });
      expect((await alone.turnOf(parentId)).assignment.content).toContain("> second");
      await alone.end();
      await alone.world.stop();
    });
  });
}

suite("on SQLite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("on PostgreSQL", createTestDatabase);
});
