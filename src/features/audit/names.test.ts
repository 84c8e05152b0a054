import { describe, expect, it } from "vitest";
import {
  channelName,
  codeName,
  count,
  idName,
  modelName,
  outcomeName,
  runtimeName,
  stopReason,
  toolName,
  turnStop,
} from "./names.ts";

const SENTENCES = [
  "the password is hunter2",
  "rm -rf /",
  "a\nb",
  "",
  "x".repeat(500),
  "ünïcödé",
  "a b",
  "<script>",
];

const catalogue = { toolName: (name: string) => (name === "bash" ? name : undefined) };

describe("words that get into the trail", () => {
  it.each(SENTENCES)("is never a sentence: %j", (text) => {
    expect(toolName(catalogue, text)).toBe("unknown");
    for (const name of [stopReason, turnStop, outcomeName, channelName, codeName, runtimeName])
      expect(["unknown", "other"]).toContain(name(text));
    expect(modelName(text, [{ id: text, provider: text }])).toBe("unknown");
    expect(idName(text)).toBeNull();
  });

  it.each([
    ["end", "end_turn"],
    ["stop", "end_turn"],
    ["end_turn", "end_turn"],
    ["tool_calls", "tool_use"],
    ["length", "max_tokens"],
    ["refusal", "refusal"],
    ["made up", "other"],
    [null, "end_turn"],
  ])("says of a turn whose model stopped by %j: %s", (reason, said) => {
    expect(turnStop(reason)).toBe(said);
  });

  it("is what is known", () => {
    expect(toolName(catalogue, "bash")).toBe("bash");
    expect(toolName(catalogue, "made_up_tool")).toBe("unknown");
    expect(stopReason("end_turn")).toBe("end_turn");
    expect(outcomeName("aborted")).toBe("aborted");
    for (const channel of ["web", "api", "slack", "github", "telegram", "linear", "mail", "wake"])
      expect(channelName(channel)).toBe(channel);
    expect(codeName("attempts_exhausted")).toBe("attempts_exhausted");
    expect(runtimeName("native")).toBe("native");
    expect(idName("ses_01m7")).toBe("ses_01m7");
    expect([count(1.6), count(Number.NaN), count(null)]).toEqual([2, null, null]);
  });

  it.each([
    ["openrouter/meta-llama/llama-3.1:free", "openrouter/meta-llama/llama-3.1:free"],
    ["anthropic/patient-john-smith:ssn-078-05-1120@ward-7", "anthropic/other"],
    ["anthropic", "anthropic/other"],
    ["patient-john/has-hepatitis", "unknown"],
    ["patient-john", "unknown"],
    ["", "unknown"],
    ["/", "unknown"],
    [`anthropic/${"x".repeat(80)}`, "anthropic/other"],
  ])("a model is one that is offered: %s", (name, expected) => {
    const offers = [
      { id: "openrouter/meta-llama/llama-3.1:free", provider: "openrouter" },
      { id: "anthropic/claude-x.1", provider: "anthropic" },
      { id: `anthropic/${"x".repeat(80)}`, provider: "anthropic" },
    ];
    expect(modelName(name, offers)).toBe(expected);
  });

  it("a runtime is one that there is", () => {
    expect(runtimeName("patient_john_smith_has_hepatitis_c")).toBe("other");
  });
});
