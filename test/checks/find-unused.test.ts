/** The search for unused declarations finds them, and nothing else. */
import ts from "typescript-compiler-api";
import { expect, it } from "vitest";
import { findUnused } from "../../scripts/check/find-unused.ts";

const sourcesOf = (files: Record<string, string>) =>
  Object.entries(files).map(([file, text]) => ({
    file,
    tree: ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true),
  }));

const SCHEMA = `
const tables = \`
create table letters (
  id text primary key, said text not null, gone_at bigint, seen_at bigint, note text,
  check (said <> '')
);
create index letters_said on letters (said, id);
create index letters_note on letters (note);
create unique index letters_once on letters (gone_at);
\`;
const more = "alter table letters add column weight integer";
`;
const QUERIES = `
const insert = inserter("letters", ["id", "said", "gone_at", "seen_at", "note", "weight"]);
const find = prepare((db, p) => db.selectFrom("letters").where("said", "=", p("said")));
const see = prepare((db, p) => db.updateTable("letters").set({ seen_at: p("now"), gone_at: p("gone_at") }));
`;
const USE = `
export function write(text) {
  return { id: mint(), said: text, gone_at: null, note: text, weight: 0 };
}
export const show = ({ said, gone_at, note }) => [said, gone_at, note, row.id, row.seen_at];
export const state = (row) => (row.gone_at === "lost" ? "open" : "closed");
if (state(row) === "lost") throw new Error();
serve(config.port);
`;

it("reports unused columns, indexes, states and settings", () => {
  const found = findUnused(
    sourcesOf({
      "src/features/letters/schema.ts": SCHEMA,
      "src/features/letters/queries.ts": QUERIES,
      "src/features/letters/use.ts": USE,
      "src/features/letters/contract.ts":
        'export const LETTER_STATES = ["open", "closed", "lost"] as const;',
      "src/base/config.ts": "export interface Config { port: number; colour: string }",
    }),
  );
  expect(found).toEqual([
    "column letters.gone_at is never written",
    "column letters.weight is never written",
    "index letters_note is never used: no query looks for note",
    "state LETTER_STATES lost is never produced",
    "setting colour is never read",
  ]);
});
