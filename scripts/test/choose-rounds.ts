import { listImportedServices } from "./imported-services.ts";
import { type Round, rounds } from "./rounds.ts";

/** The rounds to run, each with its final arguments and needs. */
export async function chooseRounds(args: string[]): Promise<Round[]> {
  const chosen = args[0] === "--round" ? [namedRound(args)] : plainRun(args);
  return Promise.all(chosen.map(withImportedServices));
}

function namedRound([, name, ...rest]: string[]): Round {
  const round = rounds.find((candidate) => candidate.name === name);
  if (!round) throw new Error(`No round is called ${name}; see scripts/test/rounds.ts.`);
  return { ...round, command: [...round.command, ...rest] };
}

/** Arguments are filters for the unit round; the other rounds are then left out. */
function plainRun(filters: string[]): Round[] {
  if (filters.length > 0) return [namedRound(["--round", "unit", ...filters])];
  return rounds.flatMap((round) => {
    if (!round.inEveryRun) return [];
    const { args, timeoutMs = round.timeoutMs } = round.inEveryRun;
    return { ...round, command: [...round.command, ...args], timeoutMs };
  });
}

async function withImportedServices(round: Round): Promise<Round> {
  if (round.name !== "unit") return round;
  return { ...round, needs: await listImportedServices() };
}
