import { expect, test } from "vitest";
import type { ModelCapability } from "#protocol/models.ts";
import { judgeModels } from "./judge-models.ts";

const usable: ModelCapability = {
  id: "house/a",
  provider: "house",
  usable: true,
  why: null,
  price: null,
};
const mute: ModelCapability = { ...usable, id: "house/*", usable: false, why: "No answer." };
const lacking: ModelCapability = { ...mute, why: "Set a key." };
const foreign: ModelCapability = { ...usable, id: "demo/story", provider: "demo" };

const CASES: [string, ModelCapability[], ModelCapability[], number, object][] = [
  ["nothing yet", [foreign], [foreign], 3_000, { is: "waiting" }],
  ["usable now", [foreign], [foreign, usable], 400, { is: "ready", models: [usable] }],
  ["usable after it lacked a key", [lacking], [usable], 400, { is: "ready", models: [usable] }],
  ["still as it was before the change", [usable], [usable], 400, { is: "waiting" }],
  ["unchanged for long enough", [usable], [usable], 4_000, { is: "ready", models: [usable] }],
  ["one runner says no, another may follow", [lacking], [mute], 400, { is: "waiting" }],
  ["it does not answer", [lacking], [mute], 4_000, { is: "failed", why: "No answer." }],
  ["what was said before counts only in the end", [lacking], [lacking], 5_000, { is: "waiting" }],
  ["no runner at all", [], [], 15_000, { is: "failed", why: null }],
  ["no news to the end", [lacking], [lacking], 15_000, { is: "failed", why: "Set a key." }],
];

test.each(CASES)("%s", (_name, before, now, elapsedMs, judged) => {
  expect(judgeModels("house", { before, now, elapsedMs })).toEqual(judged);
});
