import { expect, it } from "vitest";
import { pickSession, shortId } from "./find-session.ts";

const A = { id: "ses_01h0000000aaaaaaaaaaaaaaaa", title: "Research: otters" };
const B = { id: "ses_01h0000000bbbbbbbbbbbbbbbb", title: "Research: cats" };
const C = { id: "ses_01h0000000cccccccccccccccc", title: null };
const ALL = [A, B, C];

it.each([
  [A.id, A],
  [shortId(B.id), B],
  ["ses_01h0000000c", C],
  ["research: OTTERS", A],
  ["Research: c", B],
])("%s is meant", (given, wanted) => {
  expect(pickSession(ALL, given)).toBe(wanted);
});

it.each(["Research", "ses_01h", "nobody", "", "aaa"])("%j is nobody for sure", (given) => {
  expect(() => pickSession(ALL, given)).toThrow(/Use the id|No session matches/);
});

it("lists the sessions that match", () => {
  expect(() => pickSession(ALL, "research")).toThrow(A.id);
  expect(() => pickSession(ALL, "research")).toThrow("Research: cats");
});
