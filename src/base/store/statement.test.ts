import { sql } from "kysely";
import { expect, it } from "vitest";
import { statements } from "./statement.ts";

interface Tables {
  notes: { id: string; body: string; at: number; note: string | null };
}

const prepare = statements<Tables>();
const findNotes = prepare<{ id: string; to: number }, { id: string }>((db, p) =>
  db
    .selectFrom("notes")
    .select("id")
    .where("body", "in", ["it's", "why?", "$1"])
    .where("id", "=", p("id"))
    .where(sql<boolean>`note <> '? or $2'`)
    .where("at", ">", -5)
    .where("at", "<", p("to"))
    .where("at", "<>", 0.5),
);

it("writes fixed texts and whole numbers into the statement, and numbers what is left", () => {
  const { sql: text, parameters } = findNotes.bind("postgres", { id: "a", to: 7 });
  expect(text).toBe(
    `select "id" from "notes" where "body" in ('it''s', 'why?', '$1') and "id" = $1` +
      ` and note <> '? or $2' and "at" > -5 and "at" < $2 and "at" <> $3`,
  );
  expect(parameters).toEqual(["a", 7, 0.5]);
});

it("does the same with SQLite's placeholders", () => {
  const { sql: text, parameters } = findNotes.bind("sqlite", { id: "b", to: 8 });
  expect(text).toBe(
    `select "id" from "notes" where "body" in ('it''s', 'why?', '$1') and "id" = ?` +
      ` and note <> '? or $2' and "at" > -5 and "at" < ? and "at" <> ?`,
  );
  expect(parameters).toEqual(["b", 8, 0.5]);
});
