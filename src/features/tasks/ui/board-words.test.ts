import { expect, test } from "vitest";
import {
  changeWords,
  checkState,
  deletionWords,
  dueWords,
  firstWithTasks,
  shortTitle,
  unblockedWords,
  withNames,
} from "./board-words.ts";

const NAMES = new Map([
  ["tsk_01a", "Update the API"],
  ["tsk_01b", "Update the page"],
  ["ses_01c", "API worker"],
  ["orchestrator:usr_1", "Ada"],
]);

test("what the server says of ids is said of names; what is not known stays as it is", () => {
  expect(
    withNames("These would wait for ever: tsk_01a → tsk_01b → tsk_01a. Leave one out.", NAMES),
  ).toBe(
    "These would wait for ever: “Update the API” → “Update the page” → “Update the API”. Leave one out.",
  );
  expect(withNames("The session that has it, ses_01c, must run it: tsk_09.", NAMES)).toBe(
    "The session that has it, “API worker”, must run it: tsk_09.",
  );
  expect(withNames("It belongs to orchestrator:usr_1.", NAMES)).toBe("It belongs to “Ada”.");
  expect(withNames("desk_tsk_01a and your orchestrator: none", NAMES)).toBe(
    "desk_tsk_01a and your orchestrator: none",
  );
});

test("a deletion says what goes with the task, and who waits no longer", () => {
  const link = (status: "pending" | "completed") => ({ id: "tsk_1", title: "t", status });
  expect(deletionWords({ parts: [], dependents: [link("completed")] })).toBe(
    "This cannot be undone.",
  );
  expect(deletionWords({ parts: [link("pending")], dependents: [] })).toBe(
    "This cannot be undone. 1 subtask and everything below it are deleted too.",
  );
  const two = [link("pending"), link("pending")];
  expect(deletionWords({ parts: two, dependents: two })).toBe(
    "This cannot be undone. 2 subtasks and everything below them are deleted too. It no longer blocks 2 tasks; assignees are notified.",
  );
});

test("what can begin now is named", () => {
  expect(unblockedWords([])).toBe("");
  expect(unblockedWords([{ title: "a" }, { title: "b" }])).toBe("2 tasks unblocked: “a”, “b”");
});

test("history is described in words", () => {
  const words = (field: string, from: string | null, to: string | null) =>
    changeWords({ field, from, to }, NAMES);
  expect(words("status", "pending", "in_progress")).toEqual({
    did: "changed the status",
    from: "Pending",
    to: "In progress",
  });
  expect(words("sessionId", null, "ses_01c")).toMatchObject({ from: null, to: "“API worker”" });
  expect(words("blockedBy", "", "tsk_01a, tsk_01b")).toMatchObject({
    from: null,
    to: "“Update the API”, “Update the page”",
  });
  expect(words("created", null, "pending")).toEqual({
    did: "created the task",
    from: null,
    to: null,
  });
  // A newer server may record more fields.
  expect(words("colour", "red", "blue")).toEqual({
    did: "changed colour",
    from: "red",
    to: "blue",
  });
});

test("a check is known by what its last run came to", () => {
  const check = { kind: "command", command: "npm test" } as const;
  const at = "2030-01-01T00:00:00Z";
  expect(checkState({ check: null, lastCheck: { passed: true, at } })).toBeNull();
  expect(checkState({ check, lastCheck: null })).toBe("not run");
  expect(checkState({ check, lastCheck: { passed: false, at } })).toBe("failed");
  expect(checkState({ check, lastCheck: { passed: true, at } })).toBe("passed");
});

test("a due date is said by its day", () => {
  const now = new Date(2030, 4, 10, 23, 30).getTime();
  const at = (...day: [number, number, number, number?]) => new Date(...day).toISOString();
  expect(dueWords(at(2030, 4, 10, 9), now)).toMatch(/^today \d/);
  expect(dueWords(at(2030, 4, 11, 0), now)).toBe("tomorrow");
  expect(dueWords(at(2030, 4, 9, 23), now)).toBe("yesterday");
  expect(dueWords(at(2030, 4, 20), now)).not.toContain("2030");
  expect(dueWords(at(2031, 4, 20), now)).toContain("2031");
});

test("titles are cut where there is little room", () => {
  expect(shortTitle("short")).toBe("short");
  expect(shortTitle("Update the auth API so that tokens can be refreshed")).toBe(
    "Update the auth API so that tokens can…",
  );
  expect(shortTitle(`a ${"x".repeat(60)}`)).toBe(`a ${"x".repeat(38)}…`);
});

test("a phone begins with what somebody is at", () => {
  const column = (status: "pending" | "in_progress" | "blocked", count: number) => ({
    status,
    tasks: new Array(count).fill(0),
  });
  expect(firstWithTasks([column("pending", 2), column("in_progress", 1)])).toBe("in_progress");
  expect(
    firstWithTasks([column("pending", 0), column("in_progress", 0), column("blocked", 1)]),
  ).toBe("blocked");
  expect(firstWithTasks([column("pending", 0)])).toBe("pending");
});
