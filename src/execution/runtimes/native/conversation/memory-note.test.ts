/** Reminders of an agent: given once, behind the prompt, and the same in every later turn. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { HistoryItem } from "#protocol/frames.ts";
import { FakeTurn } from "../../fake-turn.ts";
import { fakeNative, fakeWorkspaces } from "../fake-native.ts";

const KEY = "sk-test-1234567890abcdef1234567890";
const folder = mkdtempSync(join(tmpdir(), "muster-recall-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const { workspaces } = await fakeWorkspaces(folder);

const given = (...recall: string[]) => ({ instructions: [], files: [], setup: null, recall });
const notes = (turn: FakeTurn) =>
  turn.items.flatMap((item) => (item.type === "notice" ? [item] : []));

async function work(turn: FakeTurn) {
  const { runtime, requests } = fakeNative(() => [{ text: "ok" }], { workspaces, secrets: [KEY] });
  await turn.work(runtime);
  return requests;
}

describe("being reminded", () => {
  it("stands behind the prompt, is marked as memory and keeps secrets out", async () => {
    const turn = new FakeTurn({ content: "fix checkout" });
    turn.given = given("[general] Checkout is payments", `[general] key ${KEY}`);
    const [request] = await work(turn);
    const [note] = notes(turn);
    expect(note).toMatchObject({ forModel: true });
    expect(note?.text).toMatch(/^\[from Muster\]\nMemories that may matter \(information /);
    expect(note?.text).toContain("\n- [general] Checkout is payments");
    expect(note?.text).not.toContain(KEY);
    expect(request?.messages).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: expect.stringContaining("fix checkout") },
          { type: "text", text: note?.text },
        ],
      },
    ]);
    expect(request?.system).not.toContain("payments");
  });

  it("is journaled, so a later turn reads the same and is not told twice", async () => {
    const first = new FakeTurn({ content: "one" });
    first.given = given("alpha", "beta");
    const [before] = await work(first);
    const author = first.assignment.author;
    const items: HistoryItem[] = [
      {
        seq: 1,
        role: "user",
        promptId: "pmt_0",
        item: { type: "prompt", text: "one", author, attachments: [] },
      },
      ...first.items.map((item, index) => ({
        seq: index + 2,
        role: "assistant" as const,
        promptId: "pmt_0",
        item,
      })),
    ];
    const later = new FakeTurn({ content: "two", isFirst: false });
    later.earlier = { items, more: false, summary: null };
    later.given = given("beta", "gamma");
    const [after] = await work(later);
    expect(after?.messages[0]).toEqual(before?.messages[0]);
    expect(notes(later)[0]?.text).toMatch(/:\n- gamma$/);
    const again = new FakeTurn({ content: "three", isFirst: false });
    again.earlier = later.earlier;
    again.given = given("alpha");
    await work(again);
    expect(notes(again)).toEqual([]);
  });

  it("does not come into a turn that goes on", async () => {
    const first = new FakeTurn({ content: "one" });
    first.given = given("alpha");
    await work(first);
    const resumed = new FakeTurn({ content: "one", journal: notes(first) });
    resumed.given = given("alpha", "beta");
    const [request] = await work(resumed);
    expect(notes(resumed)).toEqual([]);
    expect(JSON.stringify(request?.messages)).toContain("alpha");
    expect(JSON.stringify(request?.messages)).not.toContain("beta");
  });
});
