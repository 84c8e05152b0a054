// Runs the product under a steady mixed load for some minutes and fails when a figure drifts or
// when something is left over.
//
//   node test/soak/run.ts [--minutes N] [--seed N] [--series FILE]
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { bundleProgram } from "#test/faults/program/bundle-program.ts";
import { Random } from "#test/faults/random.ts";
import { Cleanup } from "#test/services/servers/cleanup.ts";
import { runFor } from "./load/worker.ts";
import { errorLines, readProduct } from "./measure.ts";
import { type Soak, startSoak } from "./product.ts";
import { driftsOf, tableOf } from "./report.ts";
import { checkFailures, checkPrompts, checkPurge, waitForRest } from "./rest.ts";
import { Sampler } from "./sampler.ts";
import { judgeRun } from "./verdict.ts";

const MINUTE_MS = 60_000;
const REHEARSAL_MS = 15_000;
/** Unused connections are closed within this time. */
const IDLE_MS = 8_000;
/** Share of the time that is not judged: caches fill and code is compiled. */
const WARM_UP_SHARE = 0.25;
const READINGS = 90;
const MIN_READ_EVERY_MS = 1_000;
const SHOWN = 30;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "2" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    /** File for every reading, as JSON. */
    series: { type: "string" },
  },
});
const minutes = numberOf("--minutes", values.minutes);
const seed = numberOf("--seed", values.seed);

const cleanup = new Cleanup();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(signal, () => void cleanup.finish().finally(() => process.exit(1)));

const bundle = await bundleProgram();
let findings: string[];
try {
  const random = new Random(seed);
  const soak = await startSoak(cleanup, bundle.program, random);
  findings = await run(soak, random).finally(() => soak.close());
} finally {
  await cleanup.finish();
  bundle.remove();
}
for (const finding of findings.slice(0, SHOWN)) console.log(`FAILED ${finding}`);
if (findings.length > SHOWN) console.log(`… and ${findings.length - SHOWN} more`);
console.log(findings.length === 0 ? "The soak is steady." : `The soak failed; seed ${seed}.`);
process.exit(findings.length === 0 ? 0 : 1);

async function run(soak: Soak, random: Random): Promise<string[]> {
  const { product, ledger, workers, ager } = soak;
  // A rehearsal of everything first, so that lazily created resources count as part of the
  // baseline.
  await runFor(REHEARSAL_MS, workers, { ledger, random });
  const findings = await waitForRest(product);
  await sleep(IDLE_MS);
  const baseline = await readProduct(product);

  const totalMs = minutes * MINUTE_MS;
  const sampler = new Sampler(product, ledger);
  const warmUpMs = totalMs * WARM_UP_SHARE;
  const measuredMs = totalMs - warmUpMs;
  const measure = async () => {
    await sleep(warmUpMs);
    await sampler.runFor(measuredMs, Math.max(MIN_READ_EVERY_MS, measuredMs / READINGS));
  };
  await Promise.all([runFor(totalMs, workers, { ledger, random }), measure()]);

  if (values.series !== undefined) writeFileSync(values.series, sampler.toJson());
  const { rows, unjudged } = judgeRun(sampler, ledger);
  console.log(tableOf(rows));
  const outcomes = [...ledger.outcomes].map(([name, count]) => `${count} ${name}`).join(", ");
  console.log(`${sampler.turns} turns measured; prompts of clients: ${outcomes}`);
  findings.push(
    ...driftsOf(rows),
    ...unjudged,
    ...(await waitForRest(product, baseline)),
    ...checkPrompts(ledger),
    ...checkFailures(baseline, await readProduct(product)),
    ...(await checkPurge(product, ager)),
    ...errorLines(product.home).map((line) => `log: ${line}`),
    ...ledger.complaints,
  );
  console.log(`${ager.aged.length} sessions purged`);
  if (findings.length > 0) console.log(soak.logTail());
  return findings;
}

function numberOf(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0 && value < 1_000_000)) throw new Error(`${name} must be a number above 0.`);
  return value;
}
