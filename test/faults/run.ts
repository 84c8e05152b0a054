// Plays the fault rounds and ends with the line `N passed, N failed, N skipped`.
//
//   node test/faults/run.ts [--cycles N] [--only NAME[,NAME…]] [--seed N]
import { parseArgs } from "node:util";
import { Cleanup } from "#test/services/servers/cleanup.ts";
import { bundleProgram } from "./program/bundle-program.ts";
import { Random } from "./random.ts";
import { type FaultRound, RoundUnavailable } from "./round.ts";
import { coordinationRounds } from "./rounds/coordination-rounds.ts";
import { delegationRounds } from "./rounds/delegation-rounds.ts";
import { diskRounds } from "./rounds/disk-rounds.ts";
import { killRounds } from "./rounds/kill-rounds.ts";
import { nativeRounds } from "./rounds/native-rounds.ts";
import { postgresRounds } from "./rounds/postgres-rounds.ts";
import { providerRounds } from "./rounds/provider-rounds.ts";
import { restoreRounds } from "./rounds/restore-rounds.ts";
import { silentRounds } from "./rounds/silent-rounds.ts";

const DEFAULT_CYCLES = 10;
const SHOWN_VIOLATIONS = 40;

const lanes: FaultRound[][] = [
  killRounds,
  diskRounds,
  postgresRounds,
  [...nativeRounds, ...restoreRounds],
  [...delegationRounds, ...coordinationRounds],
  [...silentRounds, ...providerRounds],
];

const { values } = parseArgs({
  options: {
    cycles: { type: "string", default: String(DEFAULT_CYCLES) },
    only: { type: "string" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const cycles = wholeNumber("--cycles", values.cycles);
const seed = wholeNumber("--seed", values.seed);
const only = values.only?.split(",");

const cleanup = new Cleanup();
const counts = { passed: 0, failed: 0, skipped: 0 };
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(signal, () => void cleanup.finish().finally(() => process.exit(1)));

const bundle = await bundleProgram();
try {
  await Promise.all(lanes.map((rounds) => playLane(rounds, bundle.program)));
} finally {
  await cleanup.finish();
  bundle.remove();
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(counts.failed > 0 || counts.passed === 0 ? 1 : 0);

async function playLane(rounds: readonly FaultRound[], program: string): Promise<void> {
  for (const round of rounds) {
    if (!only || only.includes(round.name)) await playRound(round, program);
  }
}

async function playRound(round: FaultRound, program: string): Promise<void> {
  const startedAt = Date.now();
  const say = (verdict: string, text: string) => {
    const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
    console.log(`${verdict} ${round.name} (${seconds} s): ${text}`);
  };
  try {
    const random = new Random(seed);
    const { violations, summary } = await round.play({ cleanup, program, cycles, random });
    if (violations.length === 0) {
      counts.passed++;
      say("ok", summary);
      return;
    }
    counts.failed++;
    say("FAILED", `${summary}; seed ${seed}`);
    for (const violation of violations.slice(0, SHOWN_VIOLATIONS)) console.log(`  ${violation}`);
    if (violations.length > SHOWN_VIOLATIONS)
      console.log(`  … and ${violations.length - SHOWN_VIOLATIONS} more`);
  } catch (error) {
    if (error instanceof RoundUnavailable) {
      counts.skipped++;
      say("skipped", error.message);
      return;
    }
    counts.failed++;
    say("FAILED", `seed ${seed}: ${error instanceof Error ? error.stack : String(error)}`);
  }
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`${name} must be a whole number.`);
  return Number(text);
}
