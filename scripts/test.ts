// Runs the rounds of scripts/test/rounds.ts, with the services they need, and ends with the line `N
// passed, N failed, N skipped`.
//
//   node scripts/test.ts [--round <name>] [arguments for that round, or file filters for unit…]
import { Cleanup } from "../test/services/servers/cleanup.ts";
import { prepareServices } from "../test/services/servers/services.ts";
import { chooseRounds } from "./test/choose-rounds.ts";
import { add, type Counts, none, summary } from "./test/counts.ts";
import { runRound } from "./test/run-round.ts";

const cleanup = new Cleanup();
for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const) {
  process.on(signal, () => void cleanup.finish().finally(() => process.exit(code)));
}

const total = await runAll(process.argv.slice(2)).finally(() => cleanup.finish());
console.log(`\n${summary(total)}`);
process.exit(total.failed > 0 || total.passed === 0 ? 1 : 0);

async function runAll(args: string[]): Promise<Counts> {
  const rounds = await chooseRounds(args);
  const needs = [...new Set(rounds.flatMap(({ needs }) => needs))];
  const services = await prepareServices(needs, cleanup);
  for (const [name, reason] of services.missing) {
    console.log(`Without ${name}: ${reason}. What needs it is skipped.`);
  }
  let total = none;
  for (const round of rounds) total = add(total, await runRound(round, services, cleanup));
  return total;
}
