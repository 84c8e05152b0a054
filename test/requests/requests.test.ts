/** A short storm on each database; `npm run test:requests` sends 100,000 requests to each. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { runStorm } from "./run-storm.ts";

const COUNT = 2_000;
const LIMIT_MS = 300_000;
const seed = Date.now() % 1_000_000;

async function expectCalm(databaseUrl: string | undefined): Promise<void> {
  const { report, problems } = await runStorm({ databaseUrl, seed, count: COUNT });
  expect({ seed, failures: report.failures, problems }).toEqual({
    seed,
    failures: [],
    problems: [],
  });
  expect(report.sent).toBe(COUNT);
  // Most routes were reached, not only refused.
  expect(report.statuses.get(200)).toBeGreaterThan(COUNT / 10);
}

describe("generated requests", () => {
  it("get no 5xx from a server on SQLite", () => expectCalm(undefined), LIMIT_MS);
});

describe.skipIf(!postgresUrl)("generated requests with PostgreSQL", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  it("get no 5xx from a server", () => expectCalm(database.url), LIMIT_MS);
});
