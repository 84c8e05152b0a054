import { describe, expect, it } from "vitest";
import type { Session } from "#protocol/sessions.ts";
import { moveBy } from "./tree-keys.ts";
import { buildTree, missingAncestors } from "./tree-rows.ts";

let minute = 0;

function session(id: string, fields: Partial<Session> = {}): Session {
  const createdAt = new Date(Date.UTC(2026, 2, 1, 10, minute++)).toISOString();
  const known = { id, title: id, activity: "idle", parentSessionId: null, createdAt };
  return { ...known, ...fields } as Session;
}

const orchestrator = session("orchestrator:usr_1", { isOrchestrator: true });
const first = session("first", { parentSessionId: orchestrator.id });
const alone = session("alone");
const second = session("second", { parentSessionId: orchestrator.id, activity: "needs_you" });
const NOTHING_FOLDED = new Set<string>();

/** In the server's order. */
const listed = [second, alone, first];

describe("the tree of sessions", () => {
  it("puts the orchestrator on top, its children under it in the order they were begun", () => {
    const rows = buildTree({
      sessions: listed,
      orchestrator,
      parents: [],
      folded: NOTHING_FOLDED,
    });
    expect(rows.map(({ session: { id }, level }) => [id, level])).toEqual([
      [orchestrator.id, 1],
      ["first", 2],
      ["second", 2],
      ["alone", 1],
    ]);
    expect(rows[0]).toMatchObject({ children: 2, isExpanded: true, place: 1, siblings: 2 });
    expect(rows[2]).toMatchObject({ place: 2, siblings: 2, hiddenNeedsYou: 0 });
  });

  it("says on a folded line that somebody under it waits", () => {
    const folded = new Set([orchestrator.id]);
    const rows = buildTree({ sessions: listed, orchestrator, parents: [], folded });
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatchObject({ isExpanded: false, children: 2, hiddenNeedsYou: 1 });
  });

  it("shows the way to the open session under folded lines, and nothing else of them", () => {
    const deep = session("deep", { parentSessionId: "second" });
    const beside = session("beside", { parentSessionId: "second", activity: "needs_you" });
    const folded = new Set([orchestrator.id, "second"]);
    const input = { sessions: [...listed, deep, beside], orchestrator, parents: [], folded };
    const rows = buildTree({ ...input, openId: "deep" });
    expect(rows.map(({ session: { id }, level }) => [id, level])).toEqual([
      [orchestrator.id, 1],
      ["second", 2],
      ["deep", 3],
      ["alone", 1],
    ]);
    // They stay folded: other children under them are hidden and counted.
    expect(rows[0]).toMatchObject({ isExpanded: false, children: 2, hiddenNeedsYou: 0 });
    expect(rows[1]).toMatchObject({ isExpanded: false, children: 2, hiddenNeedsYou: 1 });
    expect(buildTree({ ...input, openId: "alone" })).toHaveLength(2);
    expect(buildTree({ ...input, openId: "unknown" })).toHaveLength(2);
    const circle = [session("a", { parentSessionId: "b" }), session("b", { parentSessionId: "a" })];
    expect(buildTree({ ...input, sessions: [...circle, alone], openId: "a" })).toHaveLength(2);
  });

  it("shows a child by itself until its parent is known, and asks for the parent", () => {
    const leader = session("leader");
    const worker = session("worker", { parentSessionId: "leader" });
    const find = () => undefined;
    expect(missingAncestors([worker, second], orchestrator.id, find)).toEqual(["leader"]);
    const without = buildTree({
      sessions: [worker],
      orchestrator: null,
      parents: [],
      folded: NOTHING_FOLDED,
    });
    expect(without.map(({ level }) => level)).toEqual([1]);
    const withIt = buildTree({
      sessions: [worker],
      orchestrator: null,
      parents: [leader],
      folded: NOTHING_FOLDED,
    });
    expect(withIt.map(({ session: { id }, level }) => [id, level])).toEqual([
      ["leader", 1],
      ["worker", 2],
    ]);
  });

  it("follows parents that were read to their own parents, the first session's first", () => {
    const top = session("top");
    const middle = session("middle", { parentSessionId: "top" });
    const deep = session("deep", { parentSessionId: "middle" });
    const other = session("other", { parentSessionId: "elsewhere" });
    const read = new Map([top, middle].map((one) => [one.id, one]));
    const find = (id: string) => read.get(id);
    expect(missingAncestors([deep, other], undefined, find)).toEqual([
      "middle",
      "top",
      "elsewhere",
    ]);
    expect(missingAncestors([deep, middle], undefined, find)).toEqual(["top"]);
    const circle = new Map([["a", session("a", { parentSessionId: "b" })]]);
    circle.set("b", session("b", { parentSessionId: "a" }));
    const start = session("start", { parentSessionId: "a" });
    expect(missingAncestors([start], undefined, (id) => circle.get(id))).toEqual(["a", "b"]);
  });

  it("loses nobody and loops for nobody, whatever the rows say", () => {
    const own = session("own", { parentSessionId: "own" });
    const rows = buildTree({
      sessions: [own, own, alone],
      orchestrator: null,
      parents: [],
      folded: NOTHING_FOLDED,
    });
    expect(rows.map(({ session: { id } }) => id).sort()).toEqual(["alone", "own"]);
  });

  it("is built for a thousand sessions", () => {
    const many = Array.from({ length: 1_000 }, (_, at) =>
      session(`s${at}`, { parentSessionId: at % 2 === 0 ? orchestrator.id : null }),
    );
    const rows = buildTree({
      sessions: many,
      orchestrator,
      parents: [],
      folded: NOTHING_FOLDED,
    });
    expect(rows).toHaveLength(1_001);
  });
});

describe("the keys of the tree", () => {
  const rows = buildTree({ sessions: listed, orchestrator, parents: [], folded: NOTHING_FOLDED });
  const folded = buildTree({
    sessions: listed,
    orchestrator,
    parents: [],
    folded: new Set([orchestrator.id]),
  });

  it.each([
    ["ArrowDown", orchestrator.id, { to: "first" }],
    ["ArrowUp", "first", { to: orchestrator.id }],
    ["ArrowDown", "alone", undefined],
    ["Home", "alone", { to: orchestrator.id }],
    ["End", "first", { to: "alone" }],
    ["ArrowRight", orchestrator.id, { to: "first" }],
    ["ArrowRight", "alone", undefined],
    ["ArrowLeft", orchestrator.id, { fold: orchestrator.id }],
    ["ArrowLeft", "second", { to: orchestrator.id }],
    ["x", "second", undefined],
    ["toString", "second", undefined],
  ])("%s on %s", (key, id, move) => {
    expect(moveBy(key, rows, id)).toEqual(move);
  });

  it("unfolds with the right arrow", () => {
    expect(moveBy("ArrowRight", folded, orchestrator.id)).toEqual({ unfold: orchestrator.id });
  });
});
