// The rounds of a test run, in order. A round is one program; it passes when it exits with 0.
import type { ServiceName } from "../../test/services/servers/services.ts";

export interface Round {
  name: string;
  /** Arguments of Node. */
  command: string[];
  /** Services it requires; the unit round's come from the imports of the suites. */
  needs: ServiceName[];
  /** Part of a plain `npm test`, with these further arguments and this time limit. */
  inEveryRun?: { args: string[]; timeoutMs?: number };
  timeoutMs: number;
}

const MINUTE_MS = 60_000;

export const rounds: Round[] = [
  {
    name: "unit",
    command: ["node_modules/vitest/vitest.mjs", "run"],
    needs: [],
    inEveryRun: { args: [] },
    timeoutMs: 20 * MINUTE_MS,
  },
  {
    name: "faults",
    command: ["test/faults/run.ts"],
    needs: [],
    inEveryRun: { args: ["--cycles", "10"], timeoutMs: 10 * MINUTE_MS },
    timeoutMs: 240 * MINUTE_MS,
  },
  {
    name: "simulation",
    command: ["test/simulation/run.ts"],
    needs: [],
    inEveryRun: { args: [], timeoutMs: 10 * MINUTE_MS },
    timeoutMs: 240 * MINUTE_MS,
  },
  {
    name: "soak",
    command: ["test/soak/run.ts"],
    needs: ["bubblewrap"],
    inEveryRun: { args: ["--minutes", "2"], timeoutMs: 15 * MINUTE_MS },
    timeoutMs: 24 * 60 * MINUTE_MS,
  },
  {
    // A short round of it runs with the unit tests.
    name: "escape",
    command: ["test/escape/run.ts"],
    needs: ["bubblewrap"],
    timeoutMs: 30 * MINUTE_MS,
  },
  {
    // A short round of it runs with the unit tests.
    name: "requests",
    command: ["test/requests/run.ts"],
    needs: ["postgres"],
    timeoutMs: 120 * MINUTE_MS,
  },
];
