/**
 * Events of a child that its parent is notified of, in every state of the parent: once or not at
 * all.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { decideGate, listPendingGates } from "#engine/gates/index.ts";
import type { SessionWriter, Work } from "#engine/index.ts";
import { FakeSessionTree } from "#features/fake-session-tree/index.ts";
import { owner, startWorld, type Turn } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import type { WorkerEventType } from "../contract.ts";
import {
  createDelegation,
  detachByPerson,
  detachChild,
  endChild,
  interruptChild,
  type LinkRow,
  messageChild,
  requireChild,
} from "../index.ts";

interface Scene {
  at: FakeSessionTree;
  parentId: string;
  childId: string;
  /** First turn of the child. */
  turn: Turn;
}

interface Hands {
  parent: SessionWriter;
  child: SessionWriter;
  link: LinkRow;
}

/** Runs an action of the parent, or of a person on the child. */
function doIt(
  { at, parentId, childId }: Scene,
  act: (work: Work, hands: Hands) => Promise<unknown>,
): Promise<unknown> {
  return at.act(parentId, async (work, parent) => {
    const { child, link } = await requireChild(work, parentId, childId);
    return act(work, { parent, child, link });
  });
}

const failing = (code: string) => ({ outcome: "failed", error: { code, message: "no" } }) as const;

async function answer({ at, childId }: Scene, by: string): Promise<void> {
  await at.act(childId, async (work) => {
    const [gate] = await listPendingGates(work.tx, childId);
    const decision = { allowed: true, reason: null, answers: ["4747"], scope: "once" } as const;
    await decideGate(work, gate?.id ?? "", { ...decision, answers: ["4747"] }, by);
  });
}

/** Sends more work that cuts the first turn, and ends that turn. */
async function cut(scene: Scene, mode: "steer" | "interrupt"): Promise<void> {
  const { at, turn } = scene;
  await doIt(scene, (work, { parent, child }) => messageChild(work, parent, child, "not so", mode));
  await at.settle(turn, { outcome: "aborted" });
}

interface Cause {
  /** Event that the parent gets; null for none. */
  event: WorkerEventType | null;
  happen(scene: Scene): Promise<unknown>;
}

/** Actions of the child, and events that nobody caused. */
const CHILD: Record<string, Cause> = {
  "ends its turn": {
    event: "worker.ended",
    happen: ({ at, turn }) => at.settle(turn, { outcome: "completed", result: "7 files" }),
  },
  "ends its turn, and its runner says so twice": {
    event: "worker.ended",
    async happen({ at, turn }) {
      await at.settle(turn, { outcome: "completed", result: "7 files" });
      await at.settle(turn, { outcome: "completed", result: "7 files" }).catch(() => {});
    },
  },
  fails: {
    event: "worker.ended",
    happen: ({ at, turn }) => at.settle(turn, failing("turn_limit")),
  },
  "asks something": {
    event: "worker.ask_user",
    happen: ({ at, turn }) => at.ask(turn, "Which port?"),
  },
  "cannot reach its model, however often": {
    event: "worker.auto_retry_failed",
    happen: ({ at, turn }) => at.settle(turn, failing("model_unavailable")),
  },
  "is lost with its machine for good": {
    event: "worker.stopped_without_end",
    happen: ({ at, turn }) => at.settle(turn, failing("attempts_exhausted")),
  },
  "is given back by its runner and tried again": {
    event: null,
    async happen({ at, childId, turn }) {
      await turn.release();
      expect((await at.turnOf(childId)).assignment.attempt).toBe(2);
    },
  },
  "pauses until its model may be asked again": {
    event: null,
    happen: ({ turn }) =>
      turn.journal([], { park: { kind: "pause", waitMs: 60_000, code: "c", message: "m" } }),
  },
  "says something meanwhile": {
    event: "worker.notified",
    happen: async ({ turn }) =>
      expect((await turn.tool("notify_parent", { message: "half of it" })).error).toBeNull(),
  },
  "says that it is done": {
    event: "worker.ended",
    async happen({ at, childId, turn }) {
      expect(await turn.tool("complete_session", { summary: "all 7" })).toMatchObject({
        endsTurn: true,
      });
      await at.settle(turn, { outcome: "completed" });
      expect(await at.session(childId)).toMatchObject({ lifecycle: "archived" });
    },
  },
};

const PERSON: Record<string, Cause> = {
  stops: {
    event: "worker.stopped_without_end",
    async happen({ at, childId, turn }) {
      await at.world.kernel.sessions.stop(owner, childId);
      await at.settle(turn, { outcome: "aborted" });
    },
  },
  detaches: {
    event: "worker.detached",
    async happen(scene) {
      await doIt(scene, (work, { child, link }) => detachByPerson(work, child, link));
      await scene.at.settle(scene.turn, { outcome: "completed", result: "alone" });
    },
  },
  "steers (and it is not over)": {
    event: null,
    async happen({ at, childId, turn }) {
      await at.sendPrompt(childId, "not so", "main", "steer");
      await at.settle(turn, { outcome: "superseded" });
      await at.turnOf(childId);
    },
  },
  "steers and takes that back before the turn has ended, of": {
    event: "worker.stopped_without_end",
    async happen({ at, childId, turn }) {
      const { id } = await at.sendPrompt(childId, "not so", "main", "steer");
      await at.world.kernel.prompts.withdraw(owner, id);
      await at.settle(turn, { outcome: "superseded" });
    },
  },
  "clears the context of": {
    event: null,
    happen: ({ at, childId }) => at.sendPrompt(childId, "/clear"),
  },
  "answers the question of": {
    event: "worker.ask_user",
    async happen(scene) {
      await scene.at.ask(scene.turn, "Which port?");
      await answer(scene, "user:usr_1");
      await scene.at.turnOf(scene.childId);
    },
  },
  "withdraws what the parent asked of": {
    event: "worker.stopped_without_end",
    async happen(scene) {
      const { at } = scene;
      const sent = (await doIt(scene, (work, { parent, child }) =>
        messageChild(work, parent, child, "and then", "followup"),
      )) as { promptId: string };
      await at.world.kernel.prompts.withdraw(owner, sent.promptId);
    },
  },
};

/** Ways in which a person ends a child during its turn. */
const ENDED: Record<string, Pick<Cause, "happen">> = {
  archives: {
    async happen({ at, childId, turn }) {
      await at.world.kernel.sessions.archive(owner, childId, true);
      await at.settle(turn, { outcome: "aborted" });
    },
  },
  "archives, and then ends,": {
    async happen({ at, childId, turn }) {
      await at.world.kernel.sessions.archive(owner, childId, true);
      await at.world.kernel.sessions.terminate(owner, childId);
      await at.settle(turn, { outcome: "aborted" });
    },
  },
  ends: {
    async happen({ at, childId, turn }) {
      await at.world.kernel.sessions.terminate(owner, childId);
      await at.settle(turn, { outcome: "aborted" });
    },
  },
};

/** Actions of the parent, of which it is not notified. */
const PARENT: Record<string, Cause> = {
  interrupts: {
    event: null,
    async happen(scene) {
      await doIt(scene, (work, { child, link }) => interruptChild(work, child, link));
      await scene.at.settle(scene.turn, { outcome: "aborted" });
    },
  },
  "interrupts, and it comes to its end all the same,": {
    event: "worker.ended",
    async happen(scene) {
      await doIt(scene, (work, { child, link }) => interruptChild(work, child, link));
      await scene.at.settle(scene.turn, { outcome: "completed", result: "done already" });
    },
  },
  archives: {
    event: null,
    async happen(scene) {
      await doIt(scene, (work, { child, link }) => endChild(work, child, link, "archived"));
      await scene.at.settle(scene.turn, { outcome: "aborted" });
    },
  },
  ends: {
    event: null,
    async happen(scene) {
      await doIt(scene, (work, { child, link }) => endChild(work, child, link, "terminated"));
      await scene.at.settle(scene.turn, { outcome: "aborted" });
    },
  },
  detaches: {
    event: null,
    async happen(scene) {
      await doIt(scene, (work, { child }) => detachChild(work, child));
      await scene.at.settle(scene.turn, { outcome: "completed", result: "alone" });
    },
  },
  steers: { event: null, happen: (scene) => cut(scene, "steer") },
  "breaks into": { event: null, happen: (scene) => cut(scene, "interrupt") },
};

interface State {
  /** Brings the parent into the state. */
  enter(at: FakeSessionTree, parentId: string): Promise<unknown>;
  /** True if the parent is notified at once, by a prompt that starts. */
  isTold: boolean;
  /** True if the parent has a queued prompt. */
  isQueued?: boolean;
  /** Brings the parent back to a state in which it is notified. */
  leave(at: FakeSessionTree, parentId: string, entered: unknown): Promise<unknown>;
}

const nothing = async () => {};
const STATES: Record<string, State> = {
  idle: { enter: nothing, isTold: true, leave: nothing },
  busy: {
    enter: (at, parentId) => at.prompt(parentId),
    isTold: false,
    isQueued: true,
    leave: (at, _id, turn) => at.settle(turn as Turn, { outcome: "completed", result: "ok" }),
  },
  asleep: {
    enter: (at, id) => at.world.kernel.sessions.hibernate(owner, id),
    isTold: true,
    leave: nothing,
  },
  archived: {
    enter: (at, id) => at.world.kernel.sessions.archive(owner, id, false),
    isTold: false,
    leave: (at, id) => at.world.kernel.sessions.wake(owner, id),
  },
  "ended and revived": {
    enter: (at, id) => at.terminateAlone(id),
    isTold: false,
    leave: (at, id) => at.revive(id),
  },
};

function suite(title: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(title, () => {
    let at: FakeSessionTree;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      at = new FakeSessionTree(await startWorld([createDelegation()], made?.url));
    });
    afterEach(() => at.end());
    afterAll(async () => {
      await at.world.stop();
      await made?.drop();
    });

    async function play({ event, happen }: Cause, state: State): Promise<void> {
      const { parentId, childId, turn } = await at.createParentAndChild();
      const entered = await state.enter(at, parentId);
      await happen({ at, parentId, childId, turn });
      const inbox = await at.inbox(parentId);
      const isHeard = state.isTold || state.isQueued === true;
      expect(inbox.map(({ type }) => type)).toEqual(event === null ? [] : [event]);
      expect(await at.wakes(parentId)).toHaveLength(isHeard ? inbox.length : 0);
      if (!state.isTold) expect(inbox.some(({ delivered }) => delivered)).toBe(false);
      await state.leave(at, parentId, entered);
      expect(await at.wakes(parentId)).toHaveLength(inbox.length);
      if (event !== null) await hear(parentId, `1. ${event}: "counter" (${childId})`);
    }

    /** The parent gets two events, each once: the turn was stopped, and the child is gone. */
    async function playEnd({ happen }: Pick<Cause, "happen">, state: State): Promise<void> {
      const { parentId, childId, turn } = await at.createParentAndChild();
      const entered = await state.enter(at, parentId);
      await happen({ at, parentId, childId, turn });
      const types = (await at.inbox(parentId)).map(({ type }) => type);
      expect(types.toSorted()).toEqual(["worker.deleted", "worker.stopped_without_end"]);
      await state.leave(at, parentId, entered);
      const words = types.map((type) => `${type}: "counter" (${childId})`);
      let text = "";
      while (!words.every((line) => text.includes(line))) {
        const woken = await at.turnOf(parentId);
        text += `${woken.assignment.content}\n`;
        await at.settle(woken, { outcome: "completed", result: "heard" });
      }
      for (const line of words) expect(text.split(line)).toHaveLength(2);
      expect((await at.inbox(parentId)).every(({ delivered }) => delivered)).toBe(true);
    }

    /** The parent is notified in a turn of its own, and never again. */
    async function hear(parentId: string, words: string): Promise<void> {
      const woken = await at.turnOf(parentId);
      expect(woken.assignment.content).toContain(words);
      expect(await at.inbox(parentId)).toMatchObject([{ delivered: true }]);
      await at.settle(woken, { outcome: "completed", result: "heard" });
      expect(await at.wakes(parentId)).toHaveLength(1);
      expect(await at.inbox(parentId)).toHaveLength(1);
    }

    describe.each(Object.entries(STATES))("to a parent that is %s", (_name, state) => {
      it.each(Object.entries(CHILD))("a child that %s", (_cause, cause) => play(cause, state));
      it.each(Object.entries(PERSON))("a person %s the child", (_cause, cause) =>
        play(cause, state),
      );
      it.each(Object.entries(ENDED))("a person %s the child in its turn", (_cause, cause) =>
        playEnd(cause, state),
      );
      it.each(Object.entries(PARENT))("it %s the child itself", (_cause, cause) =>
        play(cause, state),
      );
    });
  });
}

suite("delivery on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("delivery on postgres", () => createTestDatabase());
});
