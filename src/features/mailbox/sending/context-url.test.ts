import { expect, it } from "vitest";
import { contextUrl } from "./context-url.ts";

it.each([
  ["github:acme/api:pr:42", "https://github.com/acme/api/pull/42"],
  ["github:acme/api.js:issue:7", "https://github.com/acme/api.js/issues/7"],
  ["github:acme/..:pr:1", null],
  ["github:acme/api:pr:0", null],
  ["github:acme/api:pr:1/../../settings", null],
  ["github:evil.example/x:pr:1", null],
  ["approval:apr_1", null],
  ["javascript:alert(1)", null],
  [null, null],
])("leads %j to %j", (reference, url) => {
  expect(contextUrl(reference)).toBe(url);
});
