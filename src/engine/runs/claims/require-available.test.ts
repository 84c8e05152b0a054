import { expect, it } from "vitest";
import type { ModelCapability } from "#protocol/models.ts";
import { whyUnavailable } from "./require-available.ts";

const capability = (id: string, why: string | null = null): ModelCapability => ({
  id,
  provider: id.slice(0, id.indexOf("/")),
  usable: why === null,
  why,
  price: null,
});
const CAPABILITIES = [
  capability("demo/story"),
  capability("lab/*", "Set LAB_KEY."),
  capability("house/one"),
];

it("accepts models that a runner has, and any model while no runner is connected", () => {
  expect(whyUnavailable(CAPABILITIES, "house/one")).toBeNull();
  expect(whyUnavailable([], "lab/x")).toBeNull();
});

it.each(["lab/x", "house/two", "nobody/x", "house", "lab/*"])("refuses %s", (model) => {
  const why = whyUnavailable(CAPABILITIES, model);
  expect(why).toContain(JSON.stringify(model));
  expect(why).toContain("demo/story, house/one");
});

it("says what a provider lacks, and names no more than can be read", () => {
  expect(whyUnavailable(CAPABILITIES, "lab/x")).toContain("Set LAB_KEY.");
  const many = Array.from({ length: 30 }, (_, n) => capability(`p/${n}`));
  expect(whyUnavailable(many, "q/1")).toContain("and 10 more");
});
