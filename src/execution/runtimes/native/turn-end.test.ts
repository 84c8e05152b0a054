/** Calls that end the turn, and authors of the prompts that begin one. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { JournalItem } from "#protocol/events.ts";
import type { Author } from "#protocol/sessions.ts";
import { FakeTurn } from "../fake-turn.ts";
import { lineOf } from "./conversation/entry-text.ts";
import { fakeNative, fakeWorkspaces } from "./fake-native.ts";
import type { ScriptedPart } from "./script-model.ts";

const folder = mkdtempSync(join(tmpdir(), "muster-turn-end-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const { workspaces } = await fakeWorkspaces(folder);

/** A model that makes these calls once, and then says that it is done. */
const calling = (...calls: ScriptedPart[]) =>
  fakeNative((n) => (n === 1 && calls.length > 0 ? calls : [{ text: "done" }]), { workspaces });

const wait = { call: "wait_for_event", input: {} };
const spawn = { call: "spawn_session", input: {} };

/** A server on which waiting ends the turn, and `spawn_session` returns `error`. */
function waitingTurn(error: string | null, journal: JournalItem[] = []): FakeTurn {
  const turn = new FakeTurn({ content: "go", journal });
  turn.onTool = async (name) =>
    name === "wait_for_event"
      ? { output: "waiting", error: null, endsTurn: true }
      : { output: null, error };
  return turn;
}

describe("a call that ends the turn", () => {
  it("ends it when all calls of the response succeeded", async () => {
    const { runtime, requests } = calling({ text: "I wait." }, spawn, wait);
    const end = await waitingTurn(null).work(runtime);
    expect(end).toMatchObject({ outcome: "completed", result: "I wait." });
    expect(requests).toHaveLength(1);
  });

  it.each([
    ["before it", [spawn, wait]],
    ["after it", [wait, spawn]],
  ])("lets the model hear of a call %s that failed", async (_where, calls) => {
    const { runtime, requests } = calling(...calls);
    const end = await waitingTurn("fanout_limit_exceeded: too many").work(runtime);
    expect(end).toMatchObject({ outcome: "completed", result: "done" });
    expect(JSON.stringify(requests[1]?.messages)).toContain("fanout_limit_exceeded");
  });

  it("lets it hear of a command that failed, and of a call that was not allowed", async () => {
    const failing = calling({ call: "bash", input: { command: "exit 3" } }, wait);
    await waitingTurn(null).work(failing.runtime);
    expect(JSON.stringify(failing.requests[1]?.messages)).toContain("[exit code 3]");
    const denied = calling(spawn, wait);
    const turn = waitingTurn(null);
    turn.judge = (tool) =>
      tool === "spawn_session"
        ? { verdict: "deny", reason: "not here" }
        : { verdict: "allow", reason: null };
    await turn.work(denied.runtime);
    expect(JSON.stringify(denied.requests[1]?.messages)).toContain("not here");
  });

  const pre = (callId: string, tool: string): JournalItem => ({
    type: "pre_tool",
    entryId: `ent_${callId}`,
    callId,
    tool,
    step: 1,
    input: { command: "true" },
    verdict: { verdict: "allow", reason: null },
  });
  const post = (callId: string, tool: string, more: object): JournalItem => ({
    type: "post_tool",
    entryId: `ent_r_${callId}`,
    callId,
    tool,
    step: 1,
    input: {},
    output: null,
    error: null,
    ...more,
  });
  const waited = post("c2", "wait_for_event", { endsTurn: true });

  it("ends it also when it goes on after a loss", async () => {
    const journal = [pre("c1", "spawn_session"), pre("c2", "wait_for_event"), waited];
    const { runtime, requests } = calling();
    const all = [...journal, post("c1", "spawn_session", {})];
    expect(await waitingTurn(null, all).work(runtime)).toMatchObject({ outcome: "completed" });
    expect(await waitingTurn(null, journal).work(runtime)).toMatchObject({ outcome: "completed" });
    expect(requests).toHaveLength(0);
  });

  it.each([
    [
      "had failed",
      "spawn_session",
      [post("c1", "spawn_session", { error: "no_room: full" })],
      "no_room",
    ],
    ["fails now", "spawn_session", [], "fanout_limit_exceeded"],
    ["was cut short", "bash", [], "interrupted"],
  ])("does not hide after a loss that another call %s", async (_what, tool, results, told) => {
    const journal = [pre("c1", tool), pre("c2", "wait_for_event"), ...results, waited];
    const { runtime, requests } = calling();
    const turn = waitingTurn("fanout_limit_exceeded: too many", journal);
    expect(await turn.work(runtime)).toMatchObject({ outcome: "completed", result: "done" });
    expect(requests).toHaveLength(1);
    expect(JSON.stringify(requests[0]?.messages)).toContain(told);
  });
});

describe("whose words the model reads", () => {
  const child: Author = { kind: "session", id: "ses_c", name: "Ada" };
  const muster: Author = { kind: "system", id: "orchestration", name: "Ada" };
  const person: Author = { kind: "user", id: "usr_1", name: "Ada" };

  it("are marked when they are not the person's, now and in the history alike", async () => {
    const { runtime, requests } = calling();
    const turn = new FakeTurn({ content: "news", author: muster, isFirst: false });
    const earlier = [person, child, muster].map((author, index) => ({
      seq: index + 1,
      role: "user" as const,
      promptId: `pmt_${index}`,
      item: { type: "prompt" as const, text: `say ${index}`, author, attachments: [] },
    }));
    turn.earlier = { items: earlier, more: false, summary: null };
    await turn.work(runtime);
    const texts = requests[0]?.messages.flatMap(({ role, content }) =>
      role === "user" ? content.map((part) => (part.type === "text" ? part.text : "")) : [],
    );
    expect(texts).toEqual([
      "say 0",
      '[from session "Ada" (ses_c)]\nsay 1',
      "[from Muster]\nsay 2",
      "[from Muster]\nnews",
    ]);
  });

  it("are told apart where they are summed up", () => {
    const line = (author: Author) => lineOf({ type: "prompt", text: "x", author, attachments: [] });
    expect([person, child, muster].map(line)).toEqual([
      "Ada: x",
      'session "Ada" (ses_c): x',
      "Muster: x",
    ]);
  });
});
