/** Rows of the transcript that can be redacted. Pure. */
import type { Row } from "../transcript/rows.ts";

/** The server's placeholder for redacted text. */
const REMOVED = "[removed]";

/** Returns the row's name in the question; null if it is still being written or already redacted. */
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
      return isOver(row) && hasWords(row) ? `this call to ${row.use.name}` : null;
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
