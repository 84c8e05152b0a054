/** The processes tool: shows and ends processes that bash started in the background. */
import { processesInput } from "#protocol/tools.ts";
import { createTool, ToolProblem } from "../perform-tool.ts";
import type { RunnerTool, ToolOutcome } from "../tool.ts";
import type {
  BackgroundProcess,
  BackgroundProcesses,
  EndedBySleep,
} from "./background-processes.ts";

const COMMAND_SHOWN = 200;

export function createProcessesTool(background: BackgroundProcesses): RunnerTool {
  return createTool("processes", processesInput, async ({ sessionId }, { action, id }) => {
    if (action === "list")
      return done(describeAll(background.endedByRest(sessionId), background.list(sessionId)));
    if (id === undefined) throw new ToolProblem(`Name the process to ${action} by its id.`);
    const found = background.get(sessionId, id);
    if (action === "read") return done(readNew(found));
    if (found.end) return done(`${found.id} had already ended. ${readNew(found)}`);
    found.process.kill();
    await found.done;
    return done(`Killed. ${readNew(found)}`);
  });
}

function describeAll(
  rested: readonly EndedBySleep[],
  processes: readonly BackgroundProcess[],
): string {
  const lines = [
    ...rested.map((one) => lineOf(one, "ended when the session went to sleep")),
    ...processes.map((one) => lineOf(one, stateOf(one))),
  ];
  return lines.length === 0 ? "There are no background processes." : lines.join("\n");
}

function lineOf({ id, command }: EndedBySleep, state: string): string {
  return `${id}: ${state}: ${command.slice(0, COMMAND_SHOWN).replaceAll(/\s+/g, " ")}`;
}

function readNew(one: BackgroundProcess): string {
  const { text, droppedBytes } = one.unread.take(one.end !== null);
  const dropped = droppedBytes > 0 ? `[… ${droppedBytes} bytes before this were not kept …]\n` : "";
  return `${one.id}: ${stateOf(one)}. ${text ? `New output:\n${dropped}${text}` : "No new output."}`;
}

function stateOf({ end }: BackgroundProcess): string {
  if (!end) return "running";
  if (end.killedBy === "memory") return "killed: it exceeded its memory limit";
  if (end.why !== undefined) return `killed: ${end.why}`;
  return end.exitCode === null ? `ended by ${end.signal}` : `ended with exit code ${end.exitCode}`;
}

function done(output: string): ToolOutcome {
  return { output, error: null };
}
