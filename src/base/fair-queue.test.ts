import { describe, expect, it } from "vitest";
import { FairQueue } from "./fair-queue.ts";

const turns = async (count = 5) => {
  for (let at = 0; at < count; at++) await new Promise((resolve) => setImmediate(resolve));
};

describe("a fair line", () => {
  it("gives a newcomer its turn before the rest of a long queue", async () => {
    const line = new FairQueue({ atOnce: 1, perParty: 1 });
    const served: string[] = [];
    const work = async (party: string) => {
      const release = await line.enter(party);
      served.push(party);
      await Promise.resolve();
      release?.();
    };
    const flood = Array.from({ length: 100 }, () => work("flood"));
    await turns();
    const before = served.length;
    await work("victim");
    expect(served.length - before).toBeLessThanOrEqual(3);
    await Promise.all(flood);
    expect(served).toHaveLength(101);
  });

  it("lets the loop turn and others in when those who hold a place come back at once", async () => {
    const line = new FairQueue({ atOnce: 2, perParty: 2 });
    let [pages, loops, isOver] = [0, 0, false];
    const count = () => {
      loops += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const replay = async (party: string, most: number) => {
      for (let page = 0; page < most; page++) {
        const release = await line.enter(party);
        await null;
        pages += 1;
        release?.();
      }
    };
    const flood = [replay("flood", 500), replay("flood", 500)];
    await turns();
    const before = pages;
    await replay("victim", 1);
    expect(pages - before).toBeLessThan(10);
    await Promise.all(flood);
    isOver = true;
    expect(loops).toBeGreaterThan(400);
  });

  it("keeps within its limits, and refuses what exceeds a party's queue", async () => {
    const line = new FairQueue({ atOnce: 3, perParty: 2, waiting: 1 });
    const [first, second] = [await line.enter("a"), await line.enter("a")];
    const third = line.enter("a");
    expect(third).toBeDefined();
    expect(line.enter("a")).toBeUndefined();
    let isHeld = false;
    void third?.then(() => {
      isHeld = true;
    });
    await turns();
    expect(isHeld).toBe(false);
    expect(await line.enter("b")).toBeDefined();
    first?.();
    first?.();
    await turns();
    expect(isHeld).toBe(true);
    second?.();
  });
});
