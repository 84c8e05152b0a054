import { redactText } from "#base/log.ts";
import type { Migration } from "#base/store/index.ts";
import { withoutPassword } from "../database/postgres-address.ts";
import { compareSchema } from "../database/sqlite-file.ts";
import { checkSchema } from "./check-schema.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const NAME = "database";
const CONNECT_TIMEOUT_MS = 3_000;

export async function checkPostgres(
  url: string,
  migrations: readonly Migration[],
): Promise<Finding[]> {
  const { default: pg } = await import("pg");
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: CONNECT_TIMEOUT_MS,
    application_name: "muster doctor",
  });
  // A connection that is lost between two queries must not end the process.
  client.on("error", () => {});
  try {
    await client.connect();
    const version = await client.query<{ version: string }>(
      "select current_setting('server_version') as version",
    );
    const answers = ok(
      NAME,
      `PostgreSQL ${version.rows[0]?.version ?? "?"} at ${withoutPassword(url)}`,
    );
    const table = await client.query<{ name: string | null }>(
      "select to_regclass('schema_migrations')::text as name",
    );
    if (!table.rows[0]?.name)
      return [answers, warn("schema", "empty", "The first start creates it: npm start")];
    const { rows } = await client.query<{ id: string }>("select id from schema_migrations");
    return [
      answers,
      checkSchema(
        compareSchema(
          rows.map((row) => row.id),
          migrations,
        ),
      ),
    ];
  } catch (error) {
    const why = redactText((error as Error).message || String((error as { code?: unknown }).code));
    return [
      fail(
        NAME,
        `${withoutPassword(url)} does not answer: ${why}`,
        "Start PostgreSQL, or correct MUSTER_DATABASE_URL.",
      ),
    ];
  } finally {
    await client.end().catch(() => {});
  }
}
