import { expect, test } from "vitest";
import type { Notice } from "#protocol/notices/notices.ts";
import type { Entry } from "#protocol/sessions.ts";
import { NO_DRAFTS } from "../composer/drafts.ts";
import { buildRows, type Row } from "./rows.ts";
import { sampleApproval, sampleEntry, sampleMessage } from "./samples.ts";

const tool = (fields: Partial<NonNullable<Entry["tool"]>> = {}) => ({
  name: "bash",
  callId: "c1",
  input: null,
  output: null,
  error: null,
  exitCode: null,
  durationMs: null,
  truncated: false,
  verdict: null,
  ...fields,
});
const prompt = sampleEntry({ id: "p", seq: 1, kind: "prompt", role: "user", promptId: "pmt_1" });
const call = sampleEntry({
  id: "t",
  seq: 2,
  kind: "tool_call",
  promptId: "pmt_1",
  tool: tool({ input: { command: "ls" } }),
});
const types = (rows: Row[]) => rows.map((row) => row.type);
const build = (entries: Entry[], isWorking = false) =>
  buildRows({ entries, drafts: NO_DRAFTS, isWorking });

test("a turn is the prompt, then who answers once, then what was said", () => {
  const reasoning = sampleEntry({ id: "r", seq: 2, kind: "reasoning" });
  const text = sampleEntry({ id: "a", seq: 3 });
  expect(types(build([prompt, reasoning, text]))).toEqual([
    "day",
    "prompt",
    "agent",
    "reasoning",
    "text",
  ]);
});

test("a result joins its call; without the call it stands alone", () => {
  const result = sampleEntry({
    id: "t2",
    seq: 3,
    kind: "tool_result",
    promptId: "pmt_1",
    tool: tool({ output: "a.txt", exitCode: 0 }),
  });
  const joined = build([prompt, call, result]).at(-1);
  expect(joined).toMatchObject({
    type: "tool",
    phase: "done",
    use: { input: { command: "ls" }, output: "a.txt" },
  });
  expect(types(build([prompt, result]))).toEqual(["day", "prompt", "agent", "tool"]);
});

test("an unanswered call runs while the session works and was cut otherwise", () => {
  expect(build([prompt, call], true).at(-1)).toMatchObject({ type: "tool", phase: "running" });
  expect(build([prompt, call], false).at(-1)).toMatchObject({ type: "tool", phase: "cut" });
});

test("at work with nothing in sight shows a pulse; a draft takes its place", () => {
  expect(types(build([prompt], true))).toEqual(["day", "prompt", "pulse"]);
  const drafts = [{ entryId: "d", thread: "main", kind: "text" as const, text: "Hel" }];
  const rows = buildRows({ entries: [prompt], drafts, isWorking: true });
  expect(types(rows)).toEqual(["day", "prompt", "agent", "text"]);
  expect(rows.at(-1)).toMatchObject({ key: "d", isWriting: true });
});

test("what a running tool puts out is shown in its row", () => {
  const drafts = [{ entryId: "d", thread: "main", kind: "tool_call" as const, text: "1 of 9" }];
  const rows = buildRows({ entries: [prompt, call], drafts, isWorking: true });
  expect(types(rows)).toEqual(["day", "prompt", "agent", "tool"]);
  expect(rows.at(-1)).toMatchObject({ phase: "running", use: { output: "1 of 9" } });
});

test("the row of a finished entry has the key of its draft, so it stays where it is", () => {
  const done = sampleEntry({ id: "d", seq: 2, promptId: "pmt_1" });
  const drafts = [{ entryId: "d", thread: "main", kind: "text" as const, text: "Hel" }];
  const keys = buildRows({ entries: [prompt, done], drafts, isWorking: false }).map(
    (row) => row.key,
  );
  expect(keys.filter((key) => key === "d")).toHaveLength(1);
});

test("a gate stands below its call, which waits; a question takes the place of its call", () => {
  const rows = (approval = {}) =>
    buildRows({
      entries: [prompt, call],
      drafts: NO_DRAFTS,
      isWorking: false,
      isParked: true,
      approvals: [sampleApproval({ callId: "c1", ...approval })],
    });
  expect(types(rows())).toEqual(["day", "prompt", "agent", "tool", "gate"]);
  expect(rows().at(-2)).toMatchObject({ phase: "waiting" });
  expect(types(rows({ kind: "question" }))).toEqual(["day", "prompt", "agent", "gate"]);
  expect(types(rows({ kind: "plan" }))).toEqual(["day", "prompt", "agent", "gate"]);
});

test("each new day is named once", () => {
  const later = sampleEntry({ id: "b", seq: 3, at: "2026-03-03T10:00:00.000Z" });
  expect(types(build([prompt, later]))).toEqual(["day", "prompt", "day", "agent", "text"]);
});

test("distinguishes a notice from a prompt, and a forwarded message from a notice", () => {
  const system = { kind: "system", id: "orchestration", name: "Muster" } as const;
  const child = { kind: "session", id: "ses_2", name: "Research" } as const;
  const notice = { kind: "children", waitEnded: "time", items: [] } as const;
  const told = { author: system, notice: { ...notice, items: [] } };
  const entries = [
    sampleEntry({ id: "ent_1", seq: 1, kind: "prompt", role: "user", ...told }),
    sampleEntry({ id: "ent_2", seq: 2, text: "answer" }),
    sampleEntry({ id: "ent_3", seq: 3, kind: "notice", role: "system", author: child }),
    sampleEntry({ id: "ent_4", seq: 4, kind: "notice", role: "system" }),
  ];
  const rows = buildRows({ entries, drafts: [], isWorking: false });
  expect(rows.map(({ type }) => type)).toEqual([
    "day",
    "wake",
    "agent",
    "text",
    "forwarded",
    "notice",
  ]);
});

test("a turn that answers somebody else is one row, where it began, with all of it inside", () => {
  const system = { kind: "system", id: "mailbox", name: "Muster" } as const;
  const aside = { thread: "mail:usr_2", promptId: "pmt_2" };
  const notice: Notice = {
    kind: "messages",
    from: "guest",
    isGuest: true,
    toHandle: null,
    items: [sampleMessage({ text: "Hi" })],
  };
  const text = "1 message for you.";
  const asked = { kind: "prompt", role: "user", author: system, text, notice } as const;
  const entries = [
    prompt,
    sampleEntry({ id: "g1", seq: 2, ...aside, ...asked }),
    sampleEntry({ id: "a", seq: 3, promptId: "pmt_1" }),
    sampleEntry({ id: "g2", seq: 4, ...aside, kind: "tool_call", tool: tool() }),
    sampleEntry({ id: "g3", seq: 5, ...aside, kind: "tool_result", tool: tool({ output: "ok" }) }),
    sampleEntry({ id: "g4", seq: 6, ...aside, text: "answered" }),
  ];
  const rows = build(entries);
  expect(types(rows)).toEqual(["day", "prompt", "aside", "agent", "text"]);
  expect(rows[2]).toMatchObject({ key: "g1", text, notice, needsYou: false });
  expect(types(rows[2]?.type === "aside" ? rows[2].rows : [])).toEqual(["tool", "text"]);
  const cut = build(entries.slice(5));
  expect(cut[1]).toMatchObject({ type: "aside", text: "", rows: [{ type: "text", key: "g4" }] });
});

test("an aside in which something waits for the reader says so", () => {
  const asked = sampleEntry({ ...call, id: "t9", thread: "mail:usr_2" });
  const approvals = [sampleApproval({ callId: "c1" })];
  const rows = buildRows({ entries: [asked], drafts: NO_DRAFTS, isWorking: false, approvals });
  expect(rows.at(-1)).toMatchObject({ type: "aside", needsYou: true });
});

test("messages and news of the board are told, not said", () => {
  const system = { kind: "system", id: "tasks", name: "Muster" } as const;
  const notice: Notice = { kind: "board", items: [], hasMore: false };
  const rows = build([{ ...prompt, author: system, notice }]);
  expect(rows.at(-1)).toMatchObject({ type: "wake", notice, writer: null });
  const old = build([{ ...prompt, author: system, text: "[tasks] News from the task board:" }]);
  expect(old.at(-1)).toMatchObject({ type: "prompt" });
});

test("a turn that waited is followed by notices about children in its own thread", () => {
  const notice: Notice = { kind: "children", waitEnded: null, items: [] };
  const news = { kind: "prompt", role: "user", notice } as const;
  const isFollowed = (thread: string) =>
    build([prompt, sampleEntry({ id: "n", seq: 9, ...news, thread })])[1];
  expect(isFollowed("main")).toMatchObject({ type: "prompt", isFollowed: true });
  expect(isFollowed("other")).toMatchObject({ type: "prompt", isFollowed: false });
});
