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
create table messages (
  id text primary key, said text not null, gone_at bigint, seen_at bigint, note text,
  check (said <> '')
);
create index messages_said on messages (said, id);
create index messages_note on messages (note);
create unique index messages_once on messages (gone_at);
\`;
const more = "alter table messages add column weight integer";
`;
const QUERIES = `
const insert = inserter("messages", ["id", "said", "gone_at", "seen_at", "note", "weight"]);
const find = prepare((db, p) => db.selectFrom("messages").where("said", "=", p("said")));
const see = prepare((db, p) => db.updateTable("messages").set({ seen_at: p("now"), gone_at: p("gone_at") }));
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
      "src/features/messages/schema.ts": SCHEMA,
      "src/features/messages/queries.ts": QUERIES,
      "src/features/messages/use.ts": USE,
      "src/features/messages/contract.ts":
        'export const MESSAGE_STATES = ["open", "closed", "lost"] as const;',
      "src/base/config.ts": "export interface Config { port: number; colour: string }",
    }),
  );
  expect(found).toEqual([
    "column messages.gone_at is never written",
    "column messages.weight is never written",
    "index messages_note is never used: no query looks for note",
    "state MESSAGE_STATES lost is never produced",
    "setting colour is never read",
  ]);
});
