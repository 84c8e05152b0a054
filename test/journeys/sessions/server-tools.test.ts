/**
 * Server tools on the real kernel: a call is performed once, and only if it was journaled and
 * allowed.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod";
import type { Feature } from "#engine/index.ts";
import { defineTool } from "#engine/tools/index.ts";
import { asks, startWorld, type Turn, type World } from "#features/testing/index.ts";

const done: string[] = [];
const note = (name: string, roles?: readonly ["orchestrator"]) =>
  defineTool({
    name,
    description: "Notes a word.",
    schema: z.strictObject({ word: z.string() }),
    readOnly: false,
    target: ({ word }) => word,
    ...(roles ? { roles } : {}),
    async handle(_work, _caller, { word }) {
      done.push(word);
      return { output: { noted: word }, error: null };
    },
  });

const book: Feature = {
  name: "book",
  tools: [note("note"), note("lead", ["orchestrator"])],
  judge: async (_work, { target }) =>
    target === "forbidden" ? { verdict: "deny", reason: "A rule says so." } : undefined,
};

let world: World;
let turn: Turn;
beforeAll(async () => {
  world = await startWorld([book]);
  turn = await world.startTurn(await world.createSession());
});
afterAll(() => world.stop());

it("does nothing for a call that was not journaled", async () => {
  const answer = await turn.sendTool("c1", "note", { word: "sudden" });
  expect(answer).toMatchObject({ op: "tool_result", error: expect.stringMatching(/^not_judged/) });
  expect(done).not.toContain("sudden");
});

it("does nothing for a call that was denied, or was judged as another tool's", async () => {
  await turn.journal([asks("c2", "note", { word: "forbidden" })]);
  await turn.journal([asks("c3", "bash", { command: "ls" })]);
  for (const id of ["c2", "c3"])
    expect(await turn.sendTool(id, "note", { word: "x" })).toMatchObject({
      error: expect.stringMatching(/^not_judged/),
    });
  expect(done).toEqual([]);
});

it("performs the journaled call, whatever the frame says, once", async () => {
  await turn.journal([asks("c4", "note", { word: "judged" })]);
  const first = await turn.sendTool("c4", "note", { word: "another" });
  const again = await turn.sendTool("c4", "note", { word: "a third" });
  expect(first).toMatchObject({ output: { noted: "judged" }, error: null });
  expect(again).toMatchObject({ output: { noted: "judged" }, error: null });
  expect(done).toEqual(["judged"]);
});

it("does nothing for an attempt that does not hold the run", async () => {
  await turn.journal([asks("c5", "note", { word: "stale" })]);
  const { fence } = turn.assignment;
  for (const wrong of [fence - 1, fence + 1])
    expect(await turn.sendTool("c5", "note", {}, wrong)).toMatchObject({ op: "lost" });
  expect(done).not.toContain("stale");
});

it("answers for a tool of other roles as for an unknown one", async () => {
  const { assignment } = turn;
  expect(assignment.tools).toContain("note");
  expect(assignment.tools).not.toContain("lead");
  const others = (await turn.tool("lead", { word: "x" })).error;
  const nobodys = (await turn.tool("nothing", { word: "x" })).error;
  expect(others?.replace("lead", "…")).toBe(nobodys?.replace("nothing", "…"));
  expect(others).toContain("There is no tool named lead");
});
