// Sends generated requests to a server on each database and ends with the line `N passed, N failed,
// N skipped`; none of them may get a 5xx.
//
//   node test/requests/run.ts [--count N] [--seed N] [--only sqlite|postgres]
import { parseArgs } from "node:util";
import { createTestDatabase, postgresUrl } from "#test/services/postgres.ts";
import { type Outcome, runStorm } from "./run-storm.ts";

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "100000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    only: { type: "string" },
  },
});
const count = Number(values.count);
const seed = Number(values.seed);
if (!(Number.isInteger(count) && count > 0 && Number.isInteger(seed)))
  throw new Error("--count and --seed take whole numbers");

const counts = { passed: 0, failed: 0, skipped: 0 };
if (values.only !== "postgres") await play("sqlite", undefined);
if (values.only !== "sqlite" && postgresUrl) {
  const database = await createTestDatabase();
  await play("postgres", database.url).finally(() => database.drop());
} else if (values.only !== "sqlite") {
  console.log("Without PostgreSQL: run it as `npm run test:requests`, which starts one.");
  counts.skipped += 1;
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(counts.failed > 0 || counts.passed === 0 ? 1 : 0);

async function play(name: string, databaseUrl: string | undefined): Promise<void> {
  console.log(`${name}: ${count} requests, seed ${seed}`);
  const startedAt = Date.now();
  const outcome = await runStorm({
    databaseUrl,
    seed,
    count,
    progress: (line) => console.log(line),
  });
  const seconds = Math.round((Date.now() - startedAt) / 1_000);
  report(name, outcome, seconds);
}

function report(name: string, { report: seen, problems }: Outcome, seconds: number): void {
  const statuses = [...seen.statuses].sort(([a], [b]) => a - b).map(([one, n]) => `${one}: ${n}`);
  console.log(`${name}: ${seen.sent} sent in ${seconds} s; ${statuses.join(", ")}`);
  for (const failure of seen.failures) console.log(JSON.stringify(failure, null, 1));
  for (const problem of problems) console.log(problem);
  counts[seen.failures.length + problems.length > 0 ? "failed" : "passed"] += 1;
}
