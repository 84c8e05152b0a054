/** Switch of memory for a session: a label, by which its agent is offered the tools. */
import type { Feature, Listener, SessionRow } from "#engine/index.ts";
import { hasLabel, setLabel } from "#engine/sessions/index.ts";
import { isOrchestrator } from "#protocol/sessions.ts";

export const MEMORY_LABEL = "memory";

/** Switches memory on or off; an orchestrator always has it. */
export function switchMemory(row: Pick<SessionRow, "kind" | "labels">, isOn: boolean): void {
  setLabel(row, MEMORY_LABEL, isOn || isOrchestrator(row));
}

export const listen: Listener = async (_work, event) => {
  if (event.type === "session_making")
    switchMemory(event.session.row, event.requested.enableMemory ?? false);
  if (event.type === "session_changed" && event.kept?.enableMemory !== undefined)
    switchMemory(event.session.row, event.kept.enableMemory);
};

export const describeSessions: NonNullable<Feature["describeSessions"]> = async (_reader, rows) =>
  new Map(rows.map((row) => [row.id, { enableMemory: hasLabel(row, MEMORY_LABEL) }]));
