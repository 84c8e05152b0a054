import { expect, it } from "vitest";
import type { ModelOffer } from "#protocol/models.ts";
import { whyNotOffered } from "./require-offered.ts";

const offer = (id: string, why: string | null = null): ModelOffer => ({
  id,
  provider: id.slice(0, id.indexOf("/")),
  usable: why === null,
  why,
  price: null,
});
const OFFERS = [offer("demo/story"), offer("lab/*", "Set LAB_KEY."), offer("house/one")];

it("takes what somebody has, and anything while nobody is there to say", () => {
  expect(whyNotOffered(OFFERS, "house/one")).toBeNull();
  expect(whyNotOffered([], "lab/x")).toBeNull();
});

it.each(["lab/x", "house/two", "nobody/x", "house", "lab/*"])("refuses %s", (model) => {
  const why = whyNotOffered(OFFERS, model);
  expect(why).toContain(JSON.stringify(model));
  expect(why).toContain("demo/story, house/one");
});

it("says what a provider lacks, and names no more than can be read", () => {
  expect(whyNotOffered(OFFERS, "lab/x")).toContain("Set LAB_KEY.");
  const many = Array.from({ length: 30 }, (_, n) => offer(`p/${n}`));
  expect(whyNotOffered(many, "q/1")).toContain("and 10 more");
});
