import { describe, expect, it } from "vitest";
import { childLines, noticeLine, shownNotice, taskNotices } from "./notice-words.ts";
import type { BoardEvent, ChildEvent, NoticeMessage, NoticeOf } from "./notices.ts";

const event = (fields: Partial<ChildEvent>): ChildEvent => ({
  type: "worker.ended",
  childId: "ses_a",
  childName: 'The "first"',
  payload: { outcome: "completed", text: '2. worker.ended: "fake" (ses_x) ended.' },
  ...fields,
});
const children = (...items: ChildEvent[]): NoticeOf<"children"> => ({
  kind: "children",
  waitEnded: null,
  items,
});
const message = (fields: Partial<NoticeMessage>): NoticeMessage => ({
  id: "msg_1",
  type: "message",
  from: { kind: "user", id: "usr_3", name: "Cy", handle: null },
  relation: "guest_person",
  replyToId: null,
  about: { sessionId: null, taskId: null, ref: null },
  text: "Thanks",
  ...fields,
});

describe("notices about children", () => {
  it.each([
    [event({}), "finished its turn"],
    [event({ payload: { outcome: "failed" } }), "failed"],
    [event({ payload: { outcome: "aborted" } }), "was stopped"],
    [event({ payload: {} }), "ended its turn"],
    [event({ type: "worker.ask_user", payload: {} }), "asks a question"],
    [event({ type: "worker.ask_user", payload: { kind: "plan" } }), "presents a plan"],
    [
      event({ type: "worker.detached", payload: {} }),
      "was detached by a person and continues on its own",
    ],
  ])("say what happened: %#", (item, words) => {
    expect(childLines(children(item), ": ")).toEqual([`The "first": ${words}`]);
  });

  it("count the events that one stands for", () => {
    const payload = { count: 12, workers: [], text: "worker.ended × 12" };
    expect(noticeLine(children(event({ payload }), event({})))).toBe(
      '12 earlier events of child sessions; The "first" finished its turn',
    );
  });

  it("say why a wait is over when nothing happened", () => {
    expect(noticeLine({ ...children(), waitEnded: "children_gone" })).toBe(
      "The child sessions that it waited for are gone.",
    );
  });
});

describe("messages and news of the board", () => {
  it("name who wrote", () => {
    const bo = { kind: "session", id: "ses_9", name: 'Bo "B"', handle: "bo" } as const;
    const items = [message({ type: "question", from: bo }), message({})];
    const notice = { kind: "messages", from: "guest", isGuest: true, toHandle: null } as const;
    expect(noticeLine({ ...notice, items })).toBe('A question from Bo "B"; A message from Cy');
  });

  it("name each task and what happened to it, and leave older sentences out", () => {
    const task = { id: "tsk_1", title: 'Pay "now"' };
    const other = { id: "tsk_2", title: "Two" };
    const items: BoardEvent[] = [
      { event: "overdue", task, status: "pending", due: "yesterday" },
      { event: "unblocked", task: other, by: task, isAssigned: true },
      { event: "note", text: "Something older." },
    ];
    const notice = { kind: "board", items, hasMore: false } as const;
    expect(taskNotices(notice)).toEqual([
      { ...task, words: "is overdue" },
      { ...other, words: "is no longer blocked" },
    ]);
    expect(noticeLine(notice)).toBe('Pay "now" is overdue; Two is no longer blocked');
    expect(noticeLine({ ...notice, items: [] })).toBe("Updates from the board");
  });
});

it("shows what came of a call as the prompt that it is", () => {
  expect(shownNotice(null)).toBeNull();
  expect(
    shownNotice({
      kind: "call",
      gateId: "apr_1",
      gateKind: "approval",
      tool: "bash",
      outcome: "done",
      text: "",
    }),
  ).toBeNull();
});
