/** Pure parts: terms, topics, fading, and markdown. */
import { describe, expect, it } from "vitest";
import { NASTY_STRINGS } from "#test/nasty-strings.ts";
import { MEMORY_PATH } from "../contract.ts";
import { fitting, tokensOf } from "../recall.ts";
import { fromFile, toFile } from "../writing/markdown.ts";
import { jaccard } from "./bm25.ts";
import { boosted, fadesAt, relevanceAt, renewed } from "./relevance.ts";
import { termsOf } from "./tokenize.ts";
import { SAME_TOPIC, termsOfText, titleKey } from "./topic.ts";

const terms = (text: string) => [...termsOf(text).keys()];
const DAY_MS = 86_400_000;

describe("terms", () => {
  it.each([
    ["The Tests, the TESTS!", ["the", "test"]],
    ["Café naïve Straße", ["cafe", "naive", "straße"]],
    ["ＦＵＬＬ Ⅷ", ["full", "viii"]],
    ["api-server/src/main_loop.ts", ["api", "server", "src", "main", "loop", "ts"]],
    ["class status this gas", ["class", "status", "this", "gas"]],
    ["東京都", ["東", "東京", "京", "京都", "都"]],
    ["vitestを使う", ["vitest", "を", "を使", "使", "使う", "う"]],
    ["हिन्दी", ["हिन्दी"]],
    ["costs 5€ 🔥", ["cost", "5", "€", "🔥"]],
    ["!?", ["!", "?"]],
    ["\u200b", ["\u200b"]],
    [" \n", []],
  ])("of %j", (text, expected) => expect(terms(text)).toEqual(expected));

  it("are there for everything but white space, and never too many or too long", () => {
    for (const text of NASTY_STRINGS)
      if (/\S/.test(text)) expect(terms(text).length, JSON.stringify(text)).toBeGreaterThan(0);
    expect(terms(Array.from({ length: 5_000 }, (_, n) => `w${n}`).join(" "))).toHaveLength(1_000);
    expect(terms("x".repeat(5_000))).toEqual(["x".repeat(48)]);
    expect(terms(`${"𝒳".repeat(60)}`)[0]?.isWellFormed()).toBe(true);
  });
});

describe("the same topic", () => {
  const alike = (one: string, other: string) => {
    const [a, b] = [one, other].map(
      (content) => new Set(termsOfText({ title: null, content }).topic),
    );
    const shared = [...(a as Set<string>)].filter((term) => b?.has(term)).length;
    return jaccard(shared, a?.size ?? 0, b?.size ?? 0);
  };

  it.each([
    ["User prefers tabs over spaces in TypeScript", "Prefers spaces over tabs in TypeScript."],
    ["The payments service deploys on Fridays", "Payments service deploys: never on a Friday"],
    ["Tests of acme/api run with npm test", "The tests for acme/api are run with `npm test`"],
    ["Answer in German, please, and briefly", "Always answer in German and briefly"],
    [
      "When I say checkout I mean the payments service in acme/shop, branch main",
      "When I say checkout I mean the payments service in acme/shop, on branch main only",
    ],
    ["ユーザーは日本語で答えてほしい", "ユーザーは日本語で答えてほしい。"],
  ])("holds %j and %j", (one, other) => {
    expect(alike(one, other)).toBeGreaterThanOrEqual(SAME_TOPIC);
  });

  it.each([
    [
      "When I mention checkout, route to the payments service",
      "When I mention billing, route to the payments service",
    ],
    ["Use the DevOps persona for acme/infra", "Use the DevOps persona for acme/api"],
    ["acme/web uses vitest", "acme/api uses jest"],
    ["The staging database is on host db1", "The production database is on host db2"],
    ["Deploys happen on Fridays", "Reviews happen on Mondays"],
    ["Prefers short answers", "Prefers long walks"],
    [
      "The login page of acme/web is in src/login.tsx",
      "The login test of acme/web is in test/login.ts",
    ],
  ])("keeps apart %j and %j", (one, other) => {
    expect(alike(one, other)).toBeLessThan(SAME_TOPIC);
  });

  it("is recognized by titles that differ only in spelling", () => {
    expect(titleKey("  Café – Hours! ")).toBe(titleKey("cafe hours"));
    expect(titleKey("C++")).not.toBe(titleKey("C"));
    expect(titleKey("!!")).toBe("!!");
    expect(titleKey(null)).toBe("");
  });
});

describe("relevance", () => {
  const now = 1_700_000_000_000;

  it("begins at one, loses a hundredth a day, and is pruned after 229 days", () => {
    const fades = fadesAt(1, now);
    expect(relevanceAt(fades, now)).toBeCloseTo(1, 6);
    expect(relevanceAt(fades, now + DAY_MS)).toBeCloseTo(0.99, 6);
    expect(relevanceAt(fades, now + 10 * DAY_MS)).toBeCloseTo(0.99 ** 10, 6);
    expect((fades - now) / DAY_MS).toBeCloseTo(Math.log(0.1) / Math.log(0.99), 3);
  });

  it("rises by a tenth each time, to two at most, from what it is then", () => {
    let fades = fadesAt(1, now);
    fades = boosted(fades, now);
    expect(relevanceAt(fades, now)).toBeCloseTo(1.1, 6);
    expect(relevanceAt(boosted(fades, now + 100 * DAY_MS), now + 100 * DAY_MS)).toBeCloseTo(
      1.1 * 0.99 ** 100 + 0.1,
      6,
    );
    for (let n = 0; n < 30; n++) fades = boosted(fades, now);
    expect(relevanceAt(fades, now)).toBeCloseTo(2, 6);
  });

  it("never falls when somebody writes it again", () => {
    expect(renewed(fadesAt(1.7, now), now)).toBe(fadesAt(1.7, now));
    expect(renewed(fadesAt(0.2, now), now)).toBe(fadesAt(1, now));
  });
});

describe("what is recalled", () => {
  it("stays within its tokens, the best first", () => {
    expect(tokensOf("abcdefgh")).toBe(2);
    expect(tokensOf("日本語")).toBe(3);
    expect(fitting(["a".repeat(40), "b".repeat(400), "c".repeat(40)], 25)).toEqual([
      "a".repeat(40),
      "c".repeat(40),
    ]);
  });
});

describe("markdown", () => {
  const times = { createdAt: 1_700_000_000_000, updatedAt: 1_700_000_000_001, fadesAt: 5 };

  it("gives every text back as it was, whatever it looks like", () => {
    for (const [index, text] of NASTY_STRINGS.entries()) {
      const memory = {
        category: text.trim().slice(0, 60).toWellFormed().trim() || "x",
        title: index % 2 === 0 && text.trim() !== "" ? text.trim().slice(0, 200) : null,
        content: text,
        pinned: index % 3 === 0,
        ...times,
      };
      const file = toFile(memory);
      expect(file.path, JSON.stringify(text)).toMatch(MEMORY_PATH);
      expect(fromFile(file)).toEqual(memory);
    }
  });

  it("takes files that people wrote", () => {
    const plain = { path: "a.md", content: "Just a text.\n" };
    const nothing = { pinned: false, createdAt: null, updatedAt: null, fadesAt: null };
    expect(fromFile(plain)).toEqual({
      category: "general",
      title: null,
      content: "Just a text.",
      ...nothing,
    });
    const written =
      "---\r\nTitle: Hours\r\ncategory: 'work'\r\npinned: true\r\n---\r\nNine to five.\r\n";
    expect(fromFile({ path: "b.md", content: written })).toEqual({
      ...nothing,
      category: "work",
      title: "Hours",
      content: "Nine to five.",
      pinned: true,
    });
    expect(fromFile({ path: "c.md", content: "---\ncategory: x\n---\n" })).toEqual({
      reason: "Its content is empty.",
    });
    expect(fromFile({ path: "d.md", content: "x".repeat(4_001) })).toHaveProperty("reason");
  });
});
