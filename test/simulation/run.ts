/**
 * The simulation: the real engine, with time, ids, bus, wires, crashes and the order of everything
 * taken from a seed.
 *
 *   run.ts [--seeds N] [--steps N] [--from K]    seeds K … K+N-1
 *   run.ts --seed S [--steps N] [--echo]         one seed again, exactly; with every line of its log
 *
 * A seed that fails prints itself, its last lines and the command that repeats it; after ten such
 * (`--stop-at`) the rest is skipped.
 */
import { parseArgs } from "node:util";
import { type Result, simulate } from "./simulation.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "20" },
    steps: { type: "string", default: "2000" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    echo: { type: "boolean", default: false },
    "stop-at": { type: "string", default: "10" },
  },
});

const steps = Number(values.steps);
const first = Number(values.seed ?? values.from);
const count = values.seed === undefined ? Number(values.seeds) : 1;
const stopAt = Number(values["stop-at"]);
const startedAt = Date.now();
const totals: Record<string, number> = {};
let passed = 0;
let failed = 0;

// The same seed twice must give the same history, or no result here can be trusted.
failed += (await isRepeatable(first)) ? 0 : 1;
for (let seed = first; seed < first + count && failed < stopAt; seed++) {
  const result = await simulate({ seed, steps, echo: values.echo });
  for (const [name, value] of Object.entries(result.figures))
    totals[name] = (totals[name] ?? 0) + value;
  if (result.failure) failed += 1;
  else passed += 1;
  if (result.failure) report(result);
  if (count === 1) console.log(`seed ${seed}: ${result.hash}`);
}
const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
const figures = Object.entries(totals).map(([name, value]) => `${value} ${name}`);
console.log(`${passed + failed} seeds of ${steps} steps in ${seconds} s: ${figures.join(", ")}`);
console.log(`${passed} passed, ${failed} failed, ${Math.max(0, count - passed - failed)} skipped`);
process.exitCode = failed === 0 ? 0 : 1;

async function isRepeatable(seed: number): Promise<boolean> {
  const few = Math.min(steps, 200);
  const once = await simulate({ seed, steps: few, echo: false });
  const again = await simulate({ seed, steps: few, echo: false });
  if (once.hash === again.hash) return true;
  console.log(`seed ${seed} is not the same twice: ${once.hash}, then ${again.hash}`);
  return false;
}

function report({ seed, failure, lastLines, steps: done }: Result): void {
  console.log(`\nSeed ${seed} failed at step ${done}: ${failure?.message}`);
  console.log(lastLines.join("\n"));
  if (failure?.cause instanceof Error) console.log(failure.cause.stack);
  console.log(`Again: node test/simulation/run.ts --seed ${seed} --steps ${steps}\n`);
}
