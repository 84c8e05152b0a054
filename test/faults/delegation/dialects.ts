/** The tool calls of the two kinds of parents. */

export interface ToolCall {
  tool: string;
  input: object;
}

export interface Dialect {
  spawn(title: string, prompt: string): ToolCall;
  /** Sends the next task, or the answer to a question. */
  send(id: string, message: string): ToolCall;
  /** Cuts the current turn with a correction. */
  correct(id: string, message: string): ToolCall;
  end(id: string): ToolCall;
  list: ToolCall;
  /** Fetches pending notices. */
  look: ToolCall;
  interrupt?(id: string): ToolCall;
  detach?(id: string): ToolCall;
}

export const supervisor: Dialect = {
  spawn: (name, initialPrompt) => ({
    tool: "orchestrate_spawn_worker",
    input: { name, initialPrompt },
  }),
  send: (workerId, message) => sendToWorker(workerId, message, "prompt"),
  correct: (workerId, message) => sendToWorker(workerId, message, "steer"),
  end: (workerId) => ({ tool: "orchestrate_kill_worker", input: { workerId } }),
  list: { tool: "orchestrate_list_workers", input: {} },
  look: { tool: "orchestrate_read_inbox", input: {} },
  interrupt: (workerId) => ({ tool: "orchestrate_interrupt_worker", input: { workerId } }),
  detach: (workerId) => ({ tool: "orchestrate_detach_worker", input: { workerId } }),
};

function sendToWorker(workerId: string, message: string, mode: string): ToolCall {
  return { tool: "orchestrate_send_to_worker", input: { workerId, message, mode } };
}

export const orchestrator: Dialect = {
  spawn: (title, prompt) => ({ tool: "spawn_session", input: { title, prompt } }),
  send: (sessionId, message) => ({ tool: "send_message", input: { sessionId, message } }),
  correct: (sessionId, message) => ({
    tool: "send_message",
    input: { sessionId, message, interrupt: true },
  }),
  end: (sessionId) => ({ tool: "terminate_session", input: { sessionId } }),
  list: { tool: "list_sessions", input: { status: "live" } },
  look: { tool: "wait_for_event", input: {} },
};

const SPAWNS = new Set(["orchestrate_spawn_worker", "spawn_session"]);

/** The requested title, if the call spawns. */
export function spawnTitle(tool: string | null, input: unknown): string | undefined {
  if (tool === null || !SPAWNS.has(tool)) return undefined;
  const { name, title } = (input ?? {}) as { name?: string; title?: string };
  return name ?? title;
}

/** The id of the spawned child, from the tool's answer. */
export function spawnedId(output: unknown): string | undefined {
  const { workerId, sessionId } = objectOf(output) as { workerId?: string; sessionId?: string };
  return workerId ?? sessionId;
}

const ENDS = new Set([
  "orchestrate_kill_worker",
  "orchestrate_interrupt_worker",
  "orchestrate_detach_worker",
  "terminate_session",
]);

export function isOwnEnd(tool: string | null): boolean {
  return tool !== null && ENDS.has(tool);
}

/** A tool's answer as an object, however it was stored. */
export function objectOf(output: unknown): Record<string, unknown> {
  if (typeof output !== "string") return (output ?? {}) as Record<string, unknown>;
  try {
    return JSON.parse(output) as Record<string, unknown>;
  } catch {
    return {};
  }
}
