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
          const built = build(builder<Tables>(dialect), slot as unknown as Slots<P>, dialect);
          known = withFixedValues(dialect, built.compile());
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

/**
 * Inlines values that are the same in every call: a partial index is used only if its condition is
 * part of the SQL text (`state in ('queued', 'collecting')`).
 */
function withFixedValues(
  dialect: Dialect,
  { sql, parameters }: { sql: string; parameters: readonly unknown[] },
): { sql: string; parameters: readonly unknown[] } {
  const left: unknown[] = [];
  let next = 0;
  const text = sql.replaceAll(dialect === "sqlite" ? /\?/g : /\$\d+/g, () => {
    const value = parameters[next++];
    if (typeof value === "string") return `'${value.replaceAll("'", "''")}'`;
    if (Number.isSafeInteger(value)) return String(value);
    left.push(value);
    return dialect === "sqlite" ? "?" : `$${left.length}`;
  });
  return { sql: text, parameters: left };
}

/** PostgreSQL fails on `in ()`; an empty list matches nothing instead. */
const plugins = [new HandleEmptyInListsPlugin({ strategy: replaceWithNoncontingentExpression })];

const builders = {
  sqlite: new Kysely<never>({
    plugins,
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  }),
  postgres: new Kysely<never>({
    plugins,
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  }),
} as const;

/** A Kysely instance that only compiles. */
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
