/** The children of a parent as a page reads them, and detaching a child by a person. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { command } from "#engine/index.ts";
import { owner, startWorld, type World } from "#features/testing/index.ts";
import { createDelegation, spawnChild } from "./index.ts";

describe("a parent and its children over http", () => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld([createDelegation()]);
  });
  afterEach(() => world.stop());

  const spawn = (parentId: string, title: string) =>
    command(world.kernel.engine, async (work) => {
      const parent = await work.session(parentId);
      if (!parent) throw new Error("no parent");
      return (await spawnChild(work, parent, "main", { prompt: title, title })).child.row.id;
    });
  const read = (id: string) => world.as(owner).delegation.children({ id });

  it("lists those that live first, with what they do, and adds up what they cost", async () => {
    const parentId = await world.createSession();
    const first = await spawn(parentId, "first");
    await world.nextTurn();
    const second = await spawn(parentId, "second");
    await world.kernel.sessions.archive(owner, second, true);
    const { items, more, treeCost } = await read(parentId);
    expect(items.map(({ sessionId }) => sessionId)).toEqual([first, second]);
    expect(items[0]).toMatchObject({ activity: "working", doing: "first", lifecycle: "active" });
    expect(items[1]).toMatchObject({ lifecycle: "archived" });
    expect({ more, treeCost }).toEqual({ more: 0, treeCost: 0 });
  });

  it("detaches a child, which continues, and says so when there is no parent", async () => {
    const parentId = await world.createSession();
    const childId = await spawn(parentId, "taken");
    const turn = await world.nextTurn();
    await world.as(owner).delegation.detach({ id: childId });
    expect((await read(parentId)).items).toEqual([]);
    const woken = await world.nextTurn();
    expect(woken.assignment.content).toContain("worker.detached");
    await woken.end("noted");
    await turn.end("still here");
    const again = world.as(owner).delegation.detach({ id: childId });
    await expect(again).rejects.toMatchObject({ code: "worker_not_linked" });
  });
});
