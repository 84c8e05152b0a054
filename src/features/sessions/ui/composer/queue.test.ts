import { expect, test } from "vitest";
import { sampleEvent, samplePrompt } from "../transcript/samples.ts";
import { staleAfter } from "../workspace/changed-by.ts";
import { leaveQueue, orderQueue, placePrompt } from "./queue.ts";

const waits = (ahead: number) => ({
  reason: "session_busy" as const,
  message: "",
  ahead,
  until: null,
});

test("runs in the server's order, then by age; what still collects comes last", () => {
  const queue = [
    samplePrompt({ id: "d", state: "collecting" }),
    samplePrompt({ id: "c", waitingFor: waits(1) }),
    samplePrompt({ id: "b", queuedAt: "2026-03-01T10:00:05.000Z" }),
    samplePrompt({ id: "a", queuedAt: "2026-03-01T10:00:01.000Z" }),
    samplePrompt({ id: "x", state: "running" }),
  ];
  expect(orderQueue(queue).map((prompt) => prompt.id)).toEqual(["a", "b", "c", "d"]);
});

test("placing a prompt replaces it, and takes it out once it runs", () => {
  const page = placePrompt({ items: [], next: null }, samplePrompt());
  const edited = placePrompt(page, samplePrompt({ content: "do that" }));
  expect(edited.items.map((prompt) => prompt.content)).toEqual(["do that"]);
  expect(placePrompt(edited, samplePrompt({ state: "running" })).items).toEqual([]);
});

test("a prompt leaves when its words enter the transcript or it settles", () => {
  const page = {
    items: [samplePrompt({ id: "a" }), samplePrompt({ id: "b" }), samplePrompt({ id: "c" })],
    next: null,
  };
  const left = leaveQueue(page, [
    sampleEvent({ seq: 1, type: "message", kind: "prompt", promptId: "a" }),
    sampleEvent({ seq: 2, type: "prompt_settled", promptId: "b" }),
    sampleEvent({ seq: 3, type: "message", kind: "text", promptId: "c" }),
  ]);
  expect(left.items.map((prompt) => prompt.id)).toEqual(["c"]);
  expect(leaveQueue(left, [])).toBe(left);
});

test("events name what they make stale; entries alone make nothing stale", () => {
  expect(staleAfter([sampleEvent({ seq: 1, type: "message", promptId: "a" })])).toEqual({
    session: false,
    queue: false,
    approvals: false,
    changes: false,
    usage: false,
    prompts: [],
    redacted: [],
  });
  const data = { entryIds: ["ent_1"], by: "user:usr_1" };
  const gone = sampleEvent({ seq: 1, type: "session_updated", reason: "entry_redacted", data });
  expect(staleAfter([gone]).redacted).toEqual(["ent_1"]);
  const events = [
    sampleEvent({ seq: 2, type: "run_claimed", promptId: "a" }),
    sampleEvent({ seq: 3, type: "prompt_settled", promptId: "a" }),
    sampleEvent({ seq: 4, type: "session_updated" }),
  ];
  expect(staleAfter(events)).toMatchObject({ session: true, queue: true, prompts: ["a"] });
  const asked = sampleEvent({ seq: 5, type: "gate_opened", promptId: "a" });
  expect(staleAfter([asked])).toMatchObject({ approvals: true, changes: false, prompts: ["a"] });
  const changed = sampleEvent({ seq: 6, type: "workspace_changed" });
  expect(staleAfter([changed])).toMatchObject({ changes: true, approvals: false });
  const called = sampleEvent({ seq: 7, type: "model_call" });
  expect(staleAfter([called])).toMatchObject({ usage: true, session: true, queue: false });
});
