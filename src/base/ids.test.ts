import { expect, it } from "vitest";
import { createIds, idFrom } from "./ids.ts";

it("sort in the order they were minted, also within one millisecond", () => {
  let now = 1_700_000_000_000;
  const ids = createIds(() => now);
  const minted = Array.from({ length: 3_000 }, (_, n) => {
    if (n % 1_000 === 999) now += 1;
    return ids.mint("evt");
  });
  expect([...minted].sort()).toEqual(minted);
  expect(new Set(minted).size).toBe(minted.length);
  for (const id of minted.slice(0, 10)) expect(id).toMatch(/^evt_[0-9a-hjkmnp-tv-z]{26}$/);
});

it("are not the same from two that mint at once", () => {
  const [one, other] = [createIds(() => 1), createIds(() => 1)];
  const both = Array.from({ length: 100 }, () => [one.mint("ses"), other.mint("ses")]).flat();
  expect(new Set(both).size).toBe(200);
});

it("are the same for the same seed, and as long", () => {
  expect(idFrom("rnr", "a")).toBe(idFrom("rnr", "a"));
  expect(idFrom("rnr", "a")).not.toBe(idFrom("rnr", "b"));
  expect(idFrom("rnr", "a")).toHaveLength(createIds().mint("rnr").length);
});
