import { expect, it, test } from "vitest";
import { namedBy, syncWords } from "./repo-words.ts";

it.each([
  [" acme/website ", { fullName: "acme/website" }],
  ["https://example.com/acme/website", { url: "https://example.com/acme/website" }],
  ["git@example.com:acme/website", { url: "git@example.com:acme/website" }],
  ["/srv/website", { url: "/srv/website" }],
])("%j is named by %j", (text, body) => expect(namedBy(text)).toEqual(body));

test("a sync says what it did, and why it stopped", () => {
  const none = { state: "complete", stoppedBy: null, until: null, skipped: [] } as const;
  const counts = { found: 3, added: 1, updated: 2, missing: 0, skippedCount: 0 };
  expect(syncWords({ ...none, ...counts, skipped: [] })).toBe("3 found, 1 added, 2 updated.");
  const stopped = { ...none, ...counts, missing: 1, skippedCount: 4, skipped: [] };
  expect(syncWords({ ...stopped, state: "stopped", stoppedBy: "rate_limit" })).toBe(
    "3 found, 1 added, 2 updated, 1 missing, 4 skipped. GitHub's rate limit is reached; sync again later.",
  );
});
