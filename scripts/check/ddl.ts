// Tables and indexes as the migrations create them.
import ts from "typescript-compiler-api";

export interface Source {
  file: string;
  tree: ts.SourceFile;
}

interface Column {
  table: string;
  column: string;
}

interface Index {
  name: string;
  table: string;
  columns: string[];
  isUnique: boolean;
}

const TABLE = /create table (?:if not exists )?(\w+) \(([\s\S]*?)\n?\);/g;
const ADDED = /alter table (\w+) add column (\w+)/g;
const INDEX = /create (unique )?index (?:if not exists )?(\w+) on (\w+) \(([^)]*)\)/g;
const REMOVED = /alter table (\w+) drop column (\w+)/g;
const DROPPED = /drop index (?:if exists )?(\w+)/g;
const RENAMED = /alter table (\w+) rename to (\w+)/g;

/** The texts of all migrations. Other SQL is in query files. */
function ddlTexts(sources: readonly Source[]): string[] {
  return sources
    .filter(({ file }) => /(migrations|schema|-schema)\.ts$/.test(file))
    .flatMap(({ tree }) => textsIn(tree))
    .map((text) => (text.trimEnd().endsWith(";") ? text : `${text};`));
}

/** String and template literals, with a placeholder word for each inserted value. */
function textsIn(node: ts.Node): string[] {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return [node.text];
  if (ts.isTemplateExpression(node)) {
    const rest = node.templateSpans.map(({ literal }) => `VALUE${literal.text}`);
    return [node.head.text + rest.join("")];
  }
  const texts: string[] = [];
  node.forEachChild((child) => {
    texts.push(...textsIn(child));
  });
  return texts;
}

export function findColumns(sources: readonly Source[]): Column[] {
  const texts = ddlTexts(sources);
  const names = renamedTables(texts);
  const removed = new Set(
    texts.flatMap((text) =>
      [...text.matchAll(REMOVED)].map(([, table, column]) => `${table}.${column}`),
    ),
  );
  return texts
    .flatMap((text) => [
      ...[...text.matchAll(TABLE)].flatMap(([, table = "", body = ""]) =>
        splitAtTop(body).map((part) => ({ table, column: part.split(/\s+/, 1)[0] ?? "" })),
      ),
      ...[...text.matchAll(ADDED)].map(([, table = "", column = ""]) => ({ table, column })),
    ])
    .filter(({ column }) => /^[a-z]\w*$/.test(column) && !KEYWORDS.has(column))
    .filter(({ table, column }) => !removed.has(`${table}.${column}`))
    .map((found) => ({ ...found, table: names.get(found.table) ?? found.table }));
}
const KEYWORDS: ReadonlySet<string> = new Set(["primary", "unique", "check", "foreign"]);

export function findIndexes(sources: readonly Source[]): Index[] {
  const texts = ddlTexts(sources);
  const names = renamedTables(texts);
  const dropped = new Set(
    texts.flatMap((text) => [...text.matchAll(DROPPED)].map(([, name]) => name)),
  );
  return texts
    .flatMap((text) =>
      [...text.matchAll(INDEX)].map(([, unique, name = "", table = "", columns = ""]) => ({
        name,
        table,
        columns: columns.split(",").map((column) => column.trim()),
        isUnique: unique !== undefined,
      })),
    )
    .filter(({ name, columns }) => !dropped.has(name) && /^\w+$/.test(columns[0] ?? ""))
    .map((index) => {
      const table = names.get(index.table);
      if (table === undefined) return index;
      return { ...index, table, name: table + index.name.slice(index.table.length) };
    });
}

/** Present names of tables by their first name. The indexes of a renamed table are renamed with it. */
function renamedTables(texts: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    texts.flatMap((text) =>
      [...text.matchAll(RENAMED)].map(([, from = "", to = ""]) => [from, to]),
    ),
  );
}

/** Splits at commas outside brackets. */
function splitAtTop(text: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const char of text) {
    if (char === "(") depth += 1;
    if (char === ")") depth -= 1;
    if (char === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += char;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}
