/** Answers with its prompt: the cheapest possible turn, for benchmarks and for trying things out. */
import type { Runtime, Turn, TurnEnd } from "#execution/runtimes/runtime.ts";

export function createEchoRuntime(): Runtime {
  return { name: "echo", runTurn: echo };
}

async function echo(turn: Turn): Promise<TurnEnd> {
  const text = turn.assignment.content;
  if (turn.journaled.length > 0) return { outcome: "completed", result: text };
  await turn.step();
  if (turn.signal.aborted) return { outcome: "aborted" };
  const entryId = turn.entryId();
  turn.delta({ entryId, kind: "text", text });
  return {
    outcome: "completed",
    result: text,
    items: [{ type: "message", entryId, kind: "text", text }],
  };
}
