import { describe, expect, it } from "vitest";
import type { Provider } from "#features/providers/contract.ts";
import {
  changeOf,
  draftOf,
  EMPTY_DRAFT,
  presetNamed,
  problemsOf,
  refusedFields,
} from "./presets.ts";

const HOUSE: Provider = {
  name: "house",
  kind: "openai-chat",
  baseUrl: "http://127.0.0.1:8000/v1",
  hasKey: true,
  keyEnd: "abcd",
  models: ["a", "b"],
  answered: true,
  problem: null,
  updatedAt: "2026-03-01T10:00:00.000Z",
};
const anthropic = presetNamed("anthropic");
const other = presetNamed("house");
const nothing = { before: undefined, taken: ["house"] };

describe("the request to the server", () => {
  it("is no more than needed when something is added", () => {
    expect(changeOf(anthropic, EMPTY_DRAFT, "k", undefined)).toEqual({
      kind: "anthropic",
      apiKey: "k",
    });
    expect(changeOf(presetNamed("openrouter"), EMPTY_DRAFT, "k", undefined)).toEqual({
      kind: "openai-compatible",
      baseUrl: "https://openrouter.ai/api/v1",
      apiKey: "k",
    });
    const wish = { name: "house", baseUrl: " http://[::1]:1 ", models: "a, b\nc" };
    expect(changeOf(other, wish, "", undefined)).toEqual({
      kind: "openai-compatible",
      baseUrl: "http://[::1]:1",
      models: ["a", "b", "c"],
    });
  });

  it("keeps what was not touched when something is changed", () => {
    expect(changeOf(other, draftOf(HOUSE), "", HOUSE)).toEqual({
      kind: "openai-chat",
      models: ["a", "b"],
    });
    expect(changeOf(other, { ...draftOf(HOUSE), models: " " }, "", HOUSE)).toEqual({
      kind: "openai-chat",
      models: null,
    });
  });
});

describe("what is missing", () => {
  it("is said at its field", () => {
    expect(problemsOf(anthropic, EMPTY_DRAFT, "", nothing)).toEqual({
      apiKey: "Anthropic needs a key.",
    });
    expect(Object.keys(problemsOf(other, EMPTY_DRAFT, "", nothing))).toEqual(["name", "baseUrl"]);
    const wish = { ...EMPTY_DRAFT, name: "house", baseUrl: "http://127.0.0.1" };
    expect(Object.keys(problemsOf(other, wish, "", nothing))).toEqual(["name"]);
    expect(problemsOf(other, draftOf(HOUSE), "", { before: HOUSE, taken: ["house"] })).toEqual({});
    expect(problemsOf(presetNamed("ollama"), EMPTY_DRAFT, "", nothing)).toEqual({});
  });

  it.each([
    [{ code: "provider_address_wrong", message: "No.", details: [] }, { baseUrl: "No." }],
    [{ code: "key_required", message: "Give it.", details: [] }, { apiKey: "Give it." }],
    [{ code: "base_url_invalid", message: "No.", details: [] }, { baseUrl: "No." }],
    [
      {
        code: "invalid_request",
        message: "",
        details: [{ path: "models.0", message: "must be the name of a model" }],
      },
      { models: "This must be the name of a model." },
    ],
    [{ code: "forbidden", message: "No.", details: [] }, {}],
  ])("is taken from the server's refusal %#", (refused, problems) => {
    expect(refusedFields(refused)).toEqual(problems);
  });
});
