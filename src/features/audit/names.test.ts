import { describe, expect, it } from "vitest";
import {
  channelName,
  codeName,
  count,
  idName,
  modelName,
  outcomeName,
  stopReason,
  toolName,
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

describe("words that get into the trail", () => {
  it.each(SENTENCES)("is never a sentence: %j", (text) => {
    for (const name of [toolName, stopReason, outcomeName, channelName, codeName, modelName])
      expect(["unknown", "other"]).toContain(name(text));
    expect(idName(text)).toBeNull();
  });

  it("is what is known", () => {
    expect(toolName("bash")).toBe("bash");
    expect(toolName("made_up_tool")).toBe("unknown");
    expect(stopReason("end_turn")).toBe("end_turn");
    expect(outcomeName("aborted")).toBe("aborted");
    expect(codeName("attempts_exhausted")).toBe("attempts_exhausted");
    expect(modelName("openrouter/meta-llama/llama-3.1:free")).toBe(
      "openrouter/meta-llama/llama-3.1:free",
    );
    expect(idName("ses_01m7")).toBe("ses_01m7");
    expect([count(1.6), count(Number.NaN), count(null)]).toEqual([2, null, null]);
  });
});
