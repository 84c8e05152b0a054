import { randomBytes } from "node:crypto";
import { Client } from "pg";

/** Undefined where PostgreSQL is not available; see README.md. */
export const postgresUrl = process.env.MUSTER_TEST_POSTGRES_URL;

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

/** Creates an empty database for one test file, so that files can run in parallel. */
export async function createTestDatabase(): Promise<TestDatabase> {
  if (!postgresUrl) throw new Error("Guard the suite with describe.skipIf(!postgresUrl).");
  const name = `test_${randomBytes(6).toString("hex")}`;
  await execute(postgresUrl, `CREATE DATABASE ${name}`);
  const url = new URL(postgresUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: () => execute(postgresUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

async function execute(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
