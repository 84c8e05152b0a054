/** Rows of the transcript whose words can be removed. Pure. */
import type { Row } from "../transcript/rows.ts";

/** Stands where the words of an entry were, as the server writes it. */
const REMOVED = "[removed]";

/** Name of the row in the question; null: it is being written, or its words are gone. */
export function redactableAs(row: Row): string | null {
  switch (row.type) {
    case "prompt":
      return row.entry.text === REMOVED ? null : "this prompt";
    case "wake":
    case "forwarded":
      return row.text === REMOVED ? null : "this message";
    case "text":
      return row.isWriting || row.text === REMOVED ? null : "this answer";
    case "reasoning":
      return row.isWriting || row.text === REMOVED ? null : "this reasoning";
    case "tool":
      return isOver(row) && hasWords(row) ? `this call of ${row.use.name}` : null;
    default:
      return null;
  }
}

type ToolRow = Extract<Row, { type: "tool" }>;

function isOver({ phase }: ToolRow): boolean {
  return phase === "done" || phase === "cut";
}

function hasWords({ use: { input, output, error } }: ToolRow): boolean {
  return input !== null || output !== null || error !== null;
}
