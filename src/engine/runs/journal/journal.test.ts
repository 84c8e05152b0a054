/** Journal writes: only under the fence of the attempt that holds the run, and in order. */
import { describe, expect, it } from "vitest";
import { startTestKernel, text } from "#engine/testing/test-kernel.ts";
import { LEASE_MS } from "#protocol/frames.ts";
import { EXPIRY_MARGIN_MS, expireLeases } from "../leases/leases.ts";

async function start() {
  const at = await startTestKernel();
  const id = await at.createSession();
  const runner = await at.connect("one");
  await at.send(id, "go");
  await expect.poll(() => runner.assigned().length).toBe(1);
  const turn = runner.assigned()[0];
  if (!turn) throw new Error("nothing was assigned");
  return { ...at, id, runner, turn };
}

const stale = { op: "lost", code: "stale_fence" };

describe("a batch", () => {
  it.each([-1, 1])("under another fence (%i) writes nothing", async (off) => {
    const { id, runner, turn, said, run } = await start();
    const other = { ...turn, fence: turn.fence + off };
    expect(await runner.journal(other, { items: [text("ghost")] })).toMatchObject(stale);
    expect(await said(id)).toEqual([]);
    expect(await run(turn.run)).toMatchObject({ state: "claimed", journaled: 0 });
  });

  it("of another runner writes nothing, though it knows the fence", async () => {
    const { id, turn, said, connect, run } = await start();
    const other = await connect("two");
    const batch = { items: [text("ghost")], settle: { outcome: "completed" as const } };
    expect(await other.journal(turn, batch)).toMatchObject(stale);
    expect(await said(id)).toEqual([]);
    expect(await run(turn.run)).toMatchObject({ state: "claimed", outcome: null });
  });

  it("of an attempt that lost its lease writes nothing, even if no other runner holds the run yet", async () => {
    const { id, runner, turn, said, clock, engine, run } = await start();
    clock.advance(LEASE_MS + EXPIRY_MARGIN_MS + 1);
    await expireLeases(engine, clock.now(), () => true);
    expect(await run(turn.run)).toMatchObject({ state: "pending", runner_id: null });
    expect(await runner.journal(turn, { items: [text("late")] })).toMatchObject(stale);
    expect(await said(id)).toEqual([]);
  });

  it("after the settlement writes nothing; the settlement itself may be sent again", async () => {
    const { id, runner, turn, said, run } = await start();
    const end = { items: [text("done")], settle: { outcome: "completed" as const } };
    expect(await runner.journal(turn, end)).toMatchObject({ op: "journaled", lastOrdinal: 1 });
    expect(await runner.journal(turn, end)).toMatchObject({ op: "journaled", lastOrdinal: 1 });
    const more = { firstOrdinal: 2, items: [text("more")] };
    expect(await runner.journal(turn, more)).toMatchObject(stale);
    const failed = {
      firstOrdinal: 2,
      items: [text("more")],
      settle: { outcome: "failed" as const },
    };
    expect(await runner.journal(turn, failed)).toMatchObject(stale);
    expect(await said(id)).toEqual(["done"]);
    expect(await run(turn.run)).toMatchObject({ state: "completed", outcome: "completed" });
  });
});

describe("the order of a journal", () => {
  it("is that of the ordinals: a gap is refused, and what is sent again is left out", async () => {
    const { id, runner, turn, said } = await start();
    await runner.journal(turn, { items: [text("a"), text("b")] });
    const gap = { firstOrdinal: 4, items: [text("d")] };
    expect(await runner.journal(turn, gap)).toMatchObject({ op: "lost", code: "ordinal_gap" });
    expect(await said(id)).toEqual(["a", "b"]);
  });

  it("leaves out what was appended before", async () => {
    const { id, runner, turn, said } = await start();
    await runner.journal(turn, { items: [text("a"), text("b")] });
    const again = { firstOrdinal: 2, items: [text("b"), text("c")] };
    expect(await runner.journal(turn, again)).toMatchObject({ lastOrdinal: 3 });
    expect(await said(id)).toEqual(["a", "b", "c"]);
  });
});
