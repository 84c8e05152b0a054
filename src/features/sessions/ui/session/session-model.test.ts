import { expect, test } from "vitest";
import { sampleEvent } from "../transcript/samples.ts";
import { lastModelIn, speakerOf } from "./session-model.ts";

test("the model is the one of the last call", () => {
  const call = (seq: number, model: unknown) =>
    sampleEvent({ seq, type: "model_call", data: { model } });
  const other = sampleEvent({ seq: 9, type: "message" });
  expect(lastModelIn([call(1, "a/1"), call(2, "b/2"), other])).toBe("b/2");
  expect(lastModelIn([other])).toBeUndefined();
  expect(lastModelIn([call(1, 5)])).toBeUndefined();
});

test("an agent goes by its own name, its persona or its model", () => {
  const plain = { agentName: null, persona: null, runtime: "native" };
  expect(speakerOf({ ...plain, agentName: "Ada", persona: "engineer" }, "a/1")).toBe("Ada");
  expect(speakerOf({ ...plain, persona: "engineer" }, "a/1")).toBe("engineer");
  expect(speakerOf(plain, "router/maker/1")).toBe("maker/1");
  expect(speakerOf(plain, "2 models")).toBe("Agent");
  expect(speakerOf({ ...plain, runtime: "echo" }, null)).toBe("echo");
});
