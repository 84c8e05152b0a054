import { expect, test } from "vitest";
import type { Prompt } from "#protocol/sessions.ts";
import { samplePrompt } from "../transcript/samples.ts";
import { receiptOf } from "./receipt.ts";

const ran = {
  startedAt: "2026-03-01T10:00:01.000Z",
  settledAt: "2026-03-01T10:00:13.400Z",
  attempts: 1,
};

test("says where a prompt is and why it waits", () => {
  const waitingFor = {
    reason: "no_runner" as const,
    message: "no runner offers codex",
    ahead: 2,
    until: null,
  };
  const queued = samplePrompt({ queuedAt: "2026-03-01T10:00:00.100Z", waitingFor });
  expect(receiptOf(queued)).toMatchObject({
    tone: "quiet",
    summary: "Queued · 2 ahead · no runner offers codex",
  });
  expect(receiptOf(samplePrompt()).summary).toBe("Accepted");
  expect(receiptOf(samplePrompt({ state: "collecting" })).summary).toBe("Collecting follow-ups");
  expect(receiptOf(samplePrompt({ state: "running", attempts: 2 })).summary).toBe(
    "Running · 2 attempts",
  );
  expect(receiptOf(samplePrompt({ state: "gated" }))).toMatchObject({
    tone: "warn",
    summary: "Waiting for your answer",
  });
});

test("says how a prompt ended, after how long", () => {
  expect(receiptOf(samplePrompt({ state: "settled", outcome: "completed", ...ran })).summary).toBe(
    "Completed in 12 s",
  );
  expect(receiptOf(samplePrompt({ state: "settled", outcome: "aborted", ...ran })).summary).toBe(
    "Stopped after 12 s",
  );
  expect(receiptOf(samplePrompt({ state: "settled", outcome: "withdrawn" })).summary).toBe(
    "Withdrawn",
  );
  const failed = samplePrompt({
    state: "settled",
    outcome: "failed",
    ...ran,
    attempts: 3,
    error: { code: "model_error", message: "the model is away" },
  });
  expect(receiptOf(failed)).toMatchObject({
    tone: "bad",
    summary: "Failed after 12 s · 3 attempts · the model is away",
  });
});

test("says of a turn that ended by waiting that its work was delegated", () => {
  const settled = samplePrompt({ state: "settled", outcome: "completed", ...ran });
  const waited = { ...settled, endedWaitingFor: "children" } as const;
  const summary = (isFollowed: boolean, children: number | null, prompt: Prompt = waited) =>
    receiptOf(prompt, { isFollowed, children }).summary;
  expect(summary(false, 2)).toBe("Delegated · waiting for 2 agents");
  expect(summary(false, null)).toBe("Delegated · waiting for agents");
  expect(summary(true, 0)).toBe("Delegated");
  expect(summary(false, 2, settled)).toBe("Completed in 12 s");
});

test("lists only the steps that were taken", () => {
  const steps = (prompt: Parameters<typeof receiptOf>[0]) =>
    receiptOf(prompt).steps.map((step) => step.name);
  expect(steps(samplePrompt({ state: "settled", outcome: "completed", ...ran }))).toEqual([
    "Accepted",
    "Running",
    "Completed",
  ]);
  expect(steps(samplePrompt())).toEqual(["Accepted", "Queued"]);
  expect(steps(samplePrompt({ state: "settled", outcome: "withdrawn" }))).toEqual([
    "Accepted",
    "Withdrawn",
  ]);
});
