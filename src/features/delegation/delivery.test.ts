/** Which things that happen to a child its parent hears of, whatever the parent is doing: once, or not at all. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { decideGate, listPendingGates } from "#engine/gates/index.ts";
import { owner, startWorld, type Turn, type World } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import type { WorkerEventType } from "./contract.ts";
import { FakeFamily } from "./fake-family.ts";
import {
  createDelegation,
  detachByPerson,
  detachChild,
  endChild,
  interruptChild,
  messageChild,
  requireChild,
} from "./index.ts";

interface Scene {
  parentId: string;
  childId: string;
  turn: Turn;
}

/** `told`: the one event it becomes; null: none. */
interface Cause {
  name: string;
  told: WorkerEventType | null;
  happen(at: FakeFamily, scene: Scene): Promise<void>;
}

const failed = (code: string) => ({ outcome: "failed", error: { code, message: "no" } }) as const;
const sessionsOf = (at: FakeFamily) => at.world.kernel.sessions;

/** As its parent: the child and its link, locked. */
const asParent = (
  at: FakeFamily,
  { parentId, childId }: Scene,
  act: (...args: [Parameters<typeof endChild>[0], ...Parameters<typeof endChild> extends [unknown, ...infer R] ? R extends [infer C, infer L, ...unknown[]] ? [C, L, Parameters<typeof messageChild>[1]] : never : never]) => Promise<unknown>,
) =>
  at.act(parentId, async (work, parent) => {
    const { child, link } = await requireChild(work, parentId, childId);
    await act(work, child, link, parent);
  });

const own: Cause[] = [];
void own;
