/**
 * The SQL that finds documents. Both databases return the newest documents that have the words and
 * compute the same score: the frequency of the words for the length of the text, matches in the title,
 * and age. The reader's marks are part of the query, so that nobody's matches take the room of
 * another's.
 */
import type { CompiledStatement, Dialect, Reader } from "#base/store/index.ts";
import type { DocumentRow, SearchTables } from "../schema.ts";
import type { Term } from "./words.ts";

/** Maximum of ranked matches; of more, the newest are ranked. */
export const MAX_RANKED = 1_000;

/** Maximum of the newest documents with all words that are searched for neighbouring words. */
const MAX_LOOKED_THROUGH = 20_000;

/** Saturation: the share of a word's weight that its first occurrence reaches in a text of usual length. */
const SATURATION = 1.2;
const USUAL_CHARS = 400;
const TITLE_WORTH = 2;
const USUAL_TITLE_CHARS = 60;
/** Bonus for new documents: up to a half more, and half of that after a month. */
const NEW_WORTH = 0.5;
const HALF_AFTER_MS = 30 * 24 * 60 * 60_000;

export interface Match {
  /** Marks of the reader: a document must have one of them. */
  marks: readonly string[];
  terms: readonly Term[];
  /** True if one of the terms is enough. */
  isAny: boolean;
  /** Only documents up to this id; undefined: all. */
  through?: number | undefined;
  now: number;
  limit: number;
  offset: number;
}

export type Hit = Pick<DocumentRow, "id" | "kind" | "ref"> & { score: number };

export function listHits(reader: Reader, match: Match): Promise<Hit[]> {
  return reader.query<Hit>(compile(reader.dialect, match));
}

export async function findNewest(reader: Reader): Promise<number> {
  const sql = "select max(id) as id from search_documents";
  const [row] = await reader.query<{ id: number | null }>({ sql, parameters: [] });
  return row?.id ?? 0;
}

/** Lists some of the documents that have one of these marks. */
export function listDocumentsFor(
  reader: Reader,
  marks: readonly string[],
  limit: number,
): Promise<Omit<DocumentRow, "at" | "marks">[]> {
  const { or, word } = OPERATORS[reader.dialect];
  const sql = {
    sqlite: `select id, kind, ref, title, body from search_documents
      where id in (select rowid from search_index where search_index match ? limit ${limit})`,
    postgres: `select id, kind, ref, title, body from search_documents
      where words @@ cast($1 as tsquery) limit ${limit}`,
  }[reader.dialect];
  return reader.query({ sql, parameters: [marks.map(word).join(or)] });
}

const table: keyof SearchTables = "search_documents";

function compile(dialect: Dialect, match: Match): CompiledStatement<Hit> {
  const parameters: unknown[] = [];
  const bind = (value: unknown) => {
    parameters.push(value);
    return dialect === "sqlite" ? "?" : `$${parameters.length}`;
  };
  const score = scoreOf(match, bind);
  const found = dialect === "sqlite" ? newestOfSqlite(match, bind) : newestOfPostgres(match, bind);
  const sql = `select id, kind, ref, ${score} as score from (${found}) found
    order by score desc, id desc limit ${bind(match.limit)} offset ${bind(match.offset)}`;
  return { sql, parameters };
}

type Bind = (value: unknown) => string;

function newestOfSqlite(match: Match, bind: Bind): string {
  const parts = [`search_index match ${bind(indexQuery("sqlite", match))}`];
  if (match.through !== undefined) parts.push(`rowid <= ${bind(match.through)}`);
  const beside = neighbourConditions("instr", match, bind);
  const newest = (limit: number) => `select rowid as id from search_index
    where ${parts.join(" and ")} order by rowid desc limit ${limit}`;
  const ids =
    beside.length === 0
      ? newest(MAX_RANKED)
      : `select near.id from (${newest(MAX_LOOKED_THROUGH)}) near
          cross join ${table} d on d.id = near.id
          where ${beside.join(" and ")} order by near.id desc limit ${MAX_RANKED}`;
  return `select d.id, d.kind, d.ref, d.at, d.title, d.body
    from (${ids}) f cross join ${table} d on d.id = f.id`;
}

function newestOfPostgres(match: Match, bind: Bind): string {
  const parts = [`d.words @@ cast(${bind(indexQuery("postgres", match))} as tsquery)`];
  if (match.through !== undefined) parts.push(`d.id <= ${bind(match.through)}`);
  const beside = neighbourConditions("strpos", match, bind);
  const newest = (
    limit: number,
  ) => `select d.id, d.kind, d.ref, d.at, d.title, d.body from ${table} d
    where ${parts.join(" and ")} order by d.id desc limit ${limit}`;
  if (beside.length === 0) return newest(MAX_RANKED);
  return `select * from (${newest(MAX_LOOKED_THROUGH)}) d
    where ${beside.join(" and ")} order by d.id desc limit ${MAX_RANKED}`;
}

const OPERATORS = {
  sqlite: {
    and: " AND ",
    or: " OR ",
    word: (w: string) => `"${w}"`,
    begins: (w: string) => `"${w}"*`,
  },
  postgres: {
    and: " & ",
    or: " | ",
    word: (w: string) => `'${w}'`,
    begins: (w: string) => `'${w}':*`,
  },
} as const;

/**
 * Builds the query in the syntax of the index.
 * Words and marks contain no character with a meaning in either.
 */
function indexQuery(dialect: Dialect, { marks, terms, isAny }: Match): string {
  const { and, or, word, begins } = OPERATORS[dialect];
  const whom = marks.map(word).join(or);
  const what = terms.map(({ keys, isBeginning }) => {
    const all = keys.map((key) => (isBeginning ? begins(key) : word(key)));
    return `(${all.join(and)})`;
  });
  return `(${whom})${and}(${what.join(isAny ? or : and)})`;
}

/** Conditions for words that must stand beside each other: the index only knows that all of them occur. */
function neighbourConditions(position: string, { terms, isAny }: Match, bind: Bind): string[] {
  if (isAny) return [];
  return terms
    .filter(({ words }) => words.length > 1)
    .map((term) => {
      const places = ["d.title", "d.body"];
      return `(${places.map((place) => `${position}(${place}, ${bind(needle(term))}) > 0`).join(" or ")})`;
    });
}

/** Returns the term as it stands in a document. */
function needle({ words, isBeginning }: Term): string {
  return ` ${words.join(" ")}${isBeginning ? "" : " "}`;
}

const double = (number: string) => `cast(${number} as double precision)`;
const BODY = double("length(body)");
const TITLE = double("length(title)");
const USUAL = `(${SATURATION} * (0.25 + 0.75 * ${BODY} / ${USUAL_CHARS}))`;

function scoreOf({ terms, now }: Match, bind: Bind): string {
  const worths = terms.flatMap((term) => {
    const text = needle(term);
    const without = (column: string) => double(`length(replace(${column}, ${bind(text)}, ''))`);
    const times = `((${BODY} - ${without("body")}) / ${[...text].length})`;
    // Equal to times / (times + usual), but with the most expensive part only once.
    const inBody = `(1.0 - ${USUAL} / (${times} + ${USUAL}))`;
    const inTitle = `(case when ${without("title")} < ${TITLE}
      then ${TITLE_WORTH} / (1.0 + ${TITLE} / ${USUAL_TITLE_CHARS}) else 0.0 end)`;
    return [inBody, inTitle];
  });
  const isOld = `at < ${bind(now)}`;
  const months = `${double(`${bind(now)} - at`)} / ${HALF_AFTER_MS}`;
  const newness = `${NEW_WORTH} / (1.0 + (case when ${isOld} then ${months} else 0.0 end))`;
  return `(${worths.join(" + ")}) * (1.0 + ${newness})`;
}
