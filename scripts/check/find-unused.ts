// Compares declarations with their uses in the sources.
import { findColumns, findIndexes, type Source } from "./ddl.ts";
import { collectFacts } from "./syntax-facts.ts";

export function findUnused(sources: readonly Source[]): string[] {
  const facts = collectFacts(sources);
  const columns = findColumns(sources).flatMap(({ table, column }) => {
    const name = `column ${table}.${column}`;
    if (!facts.written.has(column)) return [`${name} is never written`];
    return facts.read.has(column) ? [] : [`${name} is never read`];
  });
  const indexes = findIndexes(sources)
    .filter(({ isUnique, columns: [first = ""] }) => !isUnique && !facts.searched.has(first))
    .map(
      ({ name, columns: [first] }) => `index ${name} is never used: no query looks for ${first}`,
    );
  const states = [...facts.states].flatMap(([list, items]) =>
    items
      .filter((state) => !facts.produced.has(state))
      .map((state) => `state ${list} ${state} is never produced`),
  );
  const settings = facts.settings
    .filter((setting) => !facts.settingsRead.has(setting))
    .map((setting) => `setting ${setting} is never read`);
  return [...columns, ...indexes, ...states, ...settings];
}
