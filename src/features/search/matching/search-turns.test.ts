import { describe, expect, it } from "vitest";
import { Refusal } from "#base/refusal.ts";
import type { Engine } from "#engine/index.ts";
import { SEARCH_TOO_SLOW } from "../contract.ts";
import { SearchTurns } from "./search-turns.ts";

function createStage(dialect: "sqlite" | "postgres") {
  let now = 0;
  const engine = { store: { dialect }, clock: { now: () => now } } as unknown as Engine;
  return { turns: new SearchTurns(), engine, wait: (ms: number) => (now += ms) };
}

describe.each(["sqlite", "postgres"] as const)("searches on %s", (dialect) => {
  it("alternate between people, and refuse too many of one person", async () => {
    const { turns, engine } = createStage(dialect);
    const order: string[] = [];
    const search = (who: string) =>
      turns.take(engine, who, async () => {
        await new Promise((resolve) => setImmediate(resolve));
        order.push(who);
      });
    const flood = Array.from({ length: 30 }, () => search("ann").catch((error) => error.code));
    await search("ben");
    expect(order.indexOf("ben")).toBeLessThan(3);
    const refused = (await Promise.all(flood)).filter((code) => code === "too_many_searches");
    expect(refused.length).toBe(30 - 17);
    await expect(search("ann")).resolves.toBeUndefined();
  });

  it("pause for whoever asked what took too long, and for nobody else", async () => {
    const { turns, engine, wait } = createStage(dialect);
    const slow = () => Promise.reject(new Refusal("unavailable", SEARCH_TOO_SLOW, "Too slow."));
    await expect(turns.take(engine, "ann", slow)).rejects.toMatchObject({ code: SEARCH_TOO_SLOW });
    const find = (who: string) => turns.take(engine, who, async () => "found");
    await expect(find("ann")).rejects.toMatchObject({ code: "search_paused" });
    await expect(find("ben")).resolves.toBe("found");
    wait(5_000);
    await expect(find("ann")).resolves.toBe("found");
    await expect(turns.take(engine, "ann", slow)).rejects.toMatchObject({ code: SEARCH_TOO_SLOW });
    wait(5_000);
    await expect(find("ann")).rejects.toMatchObject({ code: "search_paused", retryAfterMs: 5_000 });
    wait(5_000);
    await expect(find("ann")).resolves.toBe("found");
  });

  it("do not make those wait whose own search was never begun", async () => {
    const { turns, engine } = createStage(dialect);
    const busy = () => Promise.reject(new Refusal("unavailable", "search_busy", "Busy."));
    await expect(turns.take(engine, "ben", busy)).rejects.toMatchObject({ code: "search_busy" });
    await expect(turns.take(engine, "ben", async () => "found")).resolves.toBe("found");
  });
});
