/**
 * Statements: built and typed by Kysely, compiled once for each database, executed by the store.
 *
 *   const prepare = statements<Tables>();
 *   const findPrompt = prepare<{ id: string }, PromptRow>((db, p) =>
 *     db.selectFrom("prompts").selectAll().where("id", "=", p("id")));
 *   await tx.first(findPrompt, { id });
 */
import {
  type Compilable,
  DummyDriver,
  HandleEmptyInListsPlugin,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryCompiler,
  replaceWithNoncontingentExpression,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import { cleanText, isStorable } from "../text/clean-text.ts";

/** Databases a statement can be compiled for. */
export type Dialect = "sqlite" | "postgres";

export interface CompiledStatement<R> {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** Never set; carries the type of a row. */
  readonly row?: R;
}

export interface Statement<P, R> {
  bind(dialect: Dialect, params: P): CompiledStatement<R>;
}

/**
 * Cleans parameters for both databases. PostgreSQL fails on a NUL in text and SQLite stores it;
 * both change text with broken Unicode. Callers from outside are refused such text earlier, so this
 * concerns text of agents, tools and other systems.
 */
export function storableParameters(parameters: readonly unknown[]): readonly unknown[] {
  const isClean = (value: unknown) => typeof value !== "string" || isStorable(value);
  if (parameters.every(isClean)) return parameters;
  return parameters.map((value) => (typeof value === "string" ? cleanText(value) : value));
}

/** Placeholder for a parameter; Kysely carries it through as an ordinary value. */
class Slot {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

type Slots<P> = <K extends keyof P & string>(name: K) => P[K];
type Build<Tables, P, R> = (db: Kysely<Tables>, p: Slots<P>, dialect: Dialect) => Compilable<R>;

const slot = ((name: string) => new Slot(name)) as unknown as Slots<Record<string, never>>;

export function statements<Tables>() {
  return <P, R>(build: Build<Tables, P, R>): Statement<P, R> => {
    const compiled = new Map<Dialect, { sql: string; parameters: readonly unknown[] }>();
    return {
      bind(dialect, params) {
        let known = compiled.get(dialect);
        if (!known) {
          const db = literalBuilders[dialect] as unknown as Kysely<Tables>;
          known = build(db, slot as unknown as Slots<P>, dialect).compile();
          compiled.set(dialect, known);
        }
        const values = known.parameters.map((value) =>
          value instanceof Slot ? (params as Record<string, unknown>)[value.name] : value,
        );
        return { sql: known.sql, parameters: values };
      },
    };
  };
}

/** PostgreSQL fails on `in ()`; an empty list matches nothing instead. */
const plugins = [new HandleEmptyInListsPlugin({ strategy: replaceWithNoncontingentExpression })];

/** A Kysely that only compiles, with the compiler of its dialect or a variant of it. */
function compiling(dialect: Dialect, createQueryCompiler: () => QueryCompiler): Kysely<never> {
  const isSqlite = dialect === "sqlite";
  return new Kysely<never>({
    plugins,
    dialect: {
      createAdapter: () => (isSqlite ? new SqliteAdapter() : new PostgresAdapter()),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) =>
        isSqlite ? new SqliteIntrospector(db) : new PostgresIntrospector(db),
      createQueryCompiler,
    },
  });
}

/**
 * Values that are the same in every call become literals: a partial index is used only when its
 * condition can be read in the text (`state in ('queued', 'collecting')`).
 */
const isFixed = (value: unknown) => typeof value === "string" || Number.isSafeInteger(value);

class SqliteLiterals extends SqliteQueryCompiler {
  protected override appendValue(value: unknown): void {
    if (isFixed(value)) this.appendImmediateValue(value);
    else super.appendValue(value);
  }
}

class PostgresLiterals extends PostgresQueryCompiler {
  protected override appendValue(value: unknown): void {
    if (isFixed(value)) this.appendImmediateValue(value);
    else super.appendValue(value);
  }
}

const builders = {
  sqlite: compiling("sqlite", () => new SqliteQueryCompiler()),
  postgres: compiling("postgres", () => new PostgresQueryCompiler()),
} as const;

const literalBuilders = {
  sqlite: compiling("sqlite", () => new SqliteLiterals()),
  postgres: compiling("postgres", () => new PostgresLiterals()),
} as const;

/** A Kysely whose values all stay parameters, for statements that differ from call to call. */
export function builder<Tables>(dialect: Dialect): Kysely<Tables> {
  return builders[dialect] as unknown as Kysely<Tables>;
}

/** Inserts rows into one table with one statement, whose text is cached per number of rows. */
export function inserter<Row extends object>(
  table: string,
  columns: readonly (keyof Row & string)[],
) {
  const texts = new Map<string, string>();
  return (dialect: Dialect, rows: readonly Row[]): CompiledStatement<never> => {
    const key = `${dialect}:${rows.length}`;
    let sql = texts.get(key);
    if (sql === undefined) {
      sql = insertText(dialect, table, columns, rows.length);
      texts.set(key, sql);
    }
    const parameters: unknown[] = [];
    for (const row of rows) for (const column of columns) parameters.push(row[column]);
    return { sql, parameters };
  };
}

function insertText(
  dialect: Dialect,
  table: string,
  columns: readonly string[],
  count: number,
): string {
  let next = 1;
  const mark = dialect === "sqlite" ? () => "?" : () => `$${next++}`;
  const tuple = () => `(${columns.map(mark).join(", ")})`;
  const tuples = Array.from({ length: count }, tuple).join(", ");
  return `insert into "${table}" (${columns.map((c) => `"${c}"`).join(", ")}) values ${tuples}`;
}
