import { expect, test } from "vitest";
import type { Provider } from "#features/providers/contract.ts";
import type { ModelCapability } from "#protocol/models.ts";
import { modelGroups } from "./model-groups.ts";

const offer = (id: string, why: string | null = null): ModelCapability => ({
  id,
  provider: id.slice(0, id.indexOf("/")),
  usable: why === null,
  why,
  price: null,
});
const provider = (name: string, problem: string | null = null): Provider => ({
  name,
  kind: "openai-compatible",
  baseUrl: null,
  hasKey: true,
  keyEnd: null,
  models: null,
  answered: true,
  problem,
  updatedAt: "2026-03-01T10:00:00.000Z",
});

test("groups by provider, the usable first, and says why of the rest", () => {
  const offers = [offer("a/*", "Set a key."), offer("b/1"), offer("b/2"), offer("demo/story")];
  const groups = modelGroups(offers, [provider("b", "Its key cannot be read."), provider("c")]);
  expect(groups.map(({ name, usable, whys }) => [name, usable.length, whys])).toEqual([
    ["b", 2, ["Its key cannot be read."]],
    ["demo", 1, []],
    ["a", 0, ["Set a key."]],
    ["c", 0, [expect.stringContaining("No runner")]],
  ]);
  expect(groups[0]?.provider?.name).toBe("b");
});
