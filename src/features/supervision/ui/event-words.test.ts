import { expect, it } from "vitest";
import { eventText, eventWords } from "./event-words.ts";

it("names events, and those it does not know by their own name", () => {
  expect(eventWords({ type: "worker.ended", payload: {} })).toEqual({
    label: "Finished",
    tone: "good",
  });
  expect(eventWords({ type: "worker.ended", payload: { outcome: "failed" } }).label).toBe("Failed");
  expect(eventWords({ type: "worker.new" as never, payload: {} }).label).toBe("new");
});

it("shows what was said or asked", () => {
  expect(eventText({ payload: { text: "done" } })).toBe("done");
  expect(eventText({ payload: { questions: ["a?", "b?"] } })).toBe("a?\nb?");
  expect(eventText({ payload: {} })).toBe("");
});
