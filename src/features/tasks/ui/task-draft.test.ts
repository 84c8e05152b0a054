import { expect, test } from "vitest";
import type { TaskCard } from "#features/tasks/contract.ts";
import {
  changeOf,
  draftOf,
  EMPTY_DRAFT,
  localTime,
  missingIn,
  newTaskOf,
  type TaskDraft,
} from "./task-draft.ts";

const CARD: TaskCard = {
  id: "tsk_1",
  boardId: "ses_1",
  sessionId: "ses_2",
  sessionTitle: "Worker",
  parentTaskId: "tsk_0",
  parent: { id: "tsk_0", title: "Whole", status: "pending" },
  title: "Do it",
  description: null,
  status: "pending",
  blockedBy: ["tsk_2"],
  openBlockers: [],
  blockers: [{ id: "tsk_2", title: "First", status: "completed" }],
  blockedReason: null,
  note: null,
  result: null,
  priority: "high",
  labels: ["a", "b"],
  dueAt: new Date(2030, 0, 5, 9, 7).toISOString(),
  isOverdue: false,
  position: 1,
  check: { kind: "command", command: "npm test", expectExitCode: 1 },
  parts: { total: 0, completed: 0 },
  lastCheck: null,
  createdBy: "user:usr_1",
  createdAt: "2029-01-01T00:00:00Z",
  updatedAt: "2029-01-01T00:00:00Z",
  settledAt: null,
};

test("a form that was not touched changes nothing", () => {
  const draft = draftOf(CARD);
  expect(draft).toMatchObject({ due: "2030-01-05T09:07", labels: "a, b", exitCode: "1" });
  expect(changeOf(draft, draft)).toEqual({});
});

test("only what was changed is sent", () => {
  const before = draftOf(CARD);
  const changed = (change: Partial<TaskDraft>) => changeOf(before, { ...before, ...change });
  expect(changed({ title: " Do that " })).toEqual({ title: "Do that" });
  expect(changed({ labels: "a, b ,, a" })).toEqual({});
  expect(changed({ labels: "" })).toEqual({ labels: [] });
  expect(changed({ due: "", sessionId: "", parent: null, blockers: [] })).toEqual({
    dueAt: null,
    sessionId: null,
    parentTaskId: null,
    blockedBy: [],
  });
  expect(changed({ check: "none" })).toEqual({ check: null });
  expect(changed({ check: "pull_request" })).toEqual({
    check: { kind: "pull_request", state: "open" },
  });
  expect(changed({ exitCode: "" })).toEqual({ check: { kind: "command", command: "npm test" } });
});

test("a new task needs a title, and a check that is a command needs that", () => {
  expect(missingIn({ ...EMPTY_DRAFT, title: " " })).toBe("title");
  expect(missingIn({ ...EMPTY_DRAFT, title: "x", check: "command" })).toBe("command");
  expect(missingIn({ ...EMPTY_DRAFT, title: "x" })).toBeNull();
  expect(newTaskOf({ ...EMPTY_DRAFT, title: "x", due: "2030-01-05T09:07" })).toMatchObject({
    title: "x",
    description: null,
    sessionId: null,
    check: null,
    dueAt: new Date(2030, 0, 5, 9, 7).toISOString(),
  });
});

test("a time goes into its field and comes out the same", () => {
  const iso = new Date(2030, 10, 3, 4, 5).toISOString();
  expect(localTime(iso)).toBe("2030-11-03T04:05");
  expect(new Date(localTime(iso)).toISOString()).toBe(iso);
});
