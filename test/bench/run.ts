/**
 * The bench: our built program against the floor, in the same rounds, on this machine.
 *
 *   npm run bench [-- --quick] [-- --only NAME,…] [-- --json FILE] [-- --program FILE]
 *
 * `--program` is another built `muster.js` than the one of this folder, to compare two builds.
 * It reports ratios and asserts nothing: a slow machine is not a bug.
 */
import { availableParallelism, loadavg } from "node:os";
import { parseArgs } from "node:util";
import type { Figure, Row } from "./figure.ts";
import { acknowledgements } from "./figures/acknowledgements.ts";
import { attacks } from "./figures/attacks.ts";
import { children } from "./figures/children.ts";
import { bytes, fannedOut, persisted } from "./figures/events.ts";
import { killed, slowReaders } from "./figures/hardship.ts";
import { idle } from "./figures/idle.ts";
import { idleSessions, restart, scale } from "./figures/many-sessions.ts";
import { memory } from "./figures/memory.ts";
import { nativeMany, nativeMemory } from "./figures/native-many.ts";
import { toolStep } from "./figures/native-tool-step.ts";
import { nativeTurns } from "./figures/native-turns.ts";
import { purge } from "./figures/purge.ts";
import { readyTasks } from "./figures/ready-tasks.ts";
import { search } from "./figures/search.ts";
import { start } from "./figures/start.ts";
import { store } from "./figures/store.ts";
import { turns } from "./figures/turns.ts";
import { unread } from "./figures/unread.ts";
import { wake } from "./figures/wake.ts";
import { table, writeJson } from "./report.ts";
import { type BenchTools, createTools } from "./tools.ts";

const figures: readonly Figure[] = [
  start,
  idle,
  turns,
  nativeTurns,
  nativeMany,
  toolStep,
  nativeMemory,
  wake,
  children,
  readyTasks,
  unread,
  acknowledgements,
  store,
  memory,
  search,
  persisted,
  fannedOut,
  bytes,
  idleSessions,
  restart,
  scale,
  purge,
  attacks,
  killed,
  slowReaders,
];

const COMMANDS = new URL("../../scripts/bootstrap/commands.mjs", import.meta.url).href;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string" },
      json: { type: "string" },
      program: { type: "string" },
    },
  });
  const chosen = choose(values.only?.split(","), values.quick);
  const { quick, program } = values;
  const tools = await createTools({
    quick,
    nodeOptions: await nodeOptions(),
    ...(program === undefined ? {} : { program }),
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void tools.close().finally(() => process.exit(130)));
  const rows: Row[] = [];
  const startedAt = performance.now();
  try {
    for (const figure of chosen) {
      process.stderr.write(`${figure.name} …\n`);
      rows.push(...(await attempt(figure, tools)));
      await tools.endServers();
    }
  } finally {
    await tools.close();
  }
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  process.stdout.write(`${table(rows)}\n\n${circumstances(seconds)}\n`);
  if (values.json !== undefined) writeJson(values.json, rows);
}

/** Runs a figure; one that throws does not stop the others. */
async function attempt(figure: Figure, tools: BenchTools): Promise<Row[]> {
  try {
    return await figure.measure(tools);
  } catch (error) {
    process.stderr.write(`${figure.name} failed: ${(error as Error).stack}\n`);
    process.exitCode = 1;
    return [];
  }
}

function choose(only: string[] | undefined, quick: boolean): Figure[] {
  const unknown = only?.filter((name) => !figures.some((figure) => figure.name === name)) ?? [];
  if (unknown.length > 0) {
    const names = figures.map((figure) => figure.name).join(", ");
    process.stderr.write(`There is no figure ${unknown.join(", ")}. Figures: ${names}\n`);
    process.exit(2);
  }
  return figures.filter((figure) => (only ? only.includes(figure.name) : !quick || figure.quick));
}

/** The program is measured with the Node options it is started with. */
async function nodeOptions(): Promise<string[]> {
  const { commands } = (await import(COMMANDS)) as {
    commands: { start: { nodeOptions: string[] } };
  };
  return commands.start.nodeOptions;
}

function circumstances(seconds: number): string {
  const load = loadavg().map((value) => value.toFixed(1));
  return `${seconds} s, Node ${process.version}, ${availableParallelism()} cores, load ${load.join(" ")}; "near" is within 1.3 times of the target, the noise of such runs.`;
}

await main();
