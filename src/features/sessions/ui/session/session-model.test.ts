import { expect, test } from "vitest";
import { sampleEvent } from "../transcript/samples.ts";
import { lastModelIn } from "./session-model.ts";

test("the last call of a model tells which it was", () => {
  const call = (seq: number, model: unknown) =>
    sampleEvent({ seq, type: "model_call", data: { model } });
  const other = sampleEvent({ seq: 9, type: "message" });
  expect(lastModelIn([call(1, "a/1"), call(2, "b/2"), other])).toBe("b/2");
  expect(lastModelIn([other])).toBeUndefined();
  expect(lastModelIn([call(1, 5)])).toBeUndefined();
});
