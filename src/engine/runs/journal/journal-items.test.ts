import { expect, it } from "vitest";
import type { EventRow } from "#engine/schema.ts";
import type { JournalItem } from "#protocol/events.ts";
import { draftOf, journalItem } from "./journal-items.ts";

it("gives a result back to a later attempt with its exit code and the time it took", () => {
  const result: JournalItem = {
    type: "post_tool",
    entryId: "ent_1",
    callId: "c1",
    tool: "bash",
    step: 1,
    input: { command: "false" },
    output: "no",
    error: "The command ended with exit code 1.",
    exitCode: 1,
    durationMs: 1_200,
  };
  const draft = draftOf(result);
  const row = {
    type: draft.type,
    entry_id: draft.entryId,
    tool_name: draft.toolName,
    tool_input: JSON.stringify(draft.toolInput),
    tool_output: JSON.stringify(draft.toolOutput),
    error: draft.error,
    exit_code: draft.exitCode,
    data: JSON.stringify(draft.data),
  } as EventRow;
  expect(journalItem(row)).toEqual(result);
});
