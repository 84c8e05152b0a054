import type { SchemaState } from "../database/sqlite-file.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

export function checkSchema(schema: SchemaState): Finding {
  const name = "schema";
  switch (schema.kind) {
    case "current":
      return ok(name, `up to date (${schema.ids.at(-1)})`);
    case "older":
      return warn(
        name,
        `older than this program (misses ${schema.ids.join(", ")})`,
        "The next start brings it up to date.",
      );
    case "newer":
      return fail(
        name,
        `written by a newer Muster (has ${schema.ids.join(", ")})`,
        "Start that version, or restore an older copy: muster restore FILE",
      );
    case "foreign":
      return fail(
        name,
        "not the database of a Muster",
        "Set MUSTER_DATABASE_URL to a database of its own.",
      );
  }
}
