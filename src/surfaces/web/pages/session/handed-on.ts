/** Turns that ended by waiting for children: their work was handed on, and its answer comes later. Pure. */
import type { Entry } from "#protocol/sessions.ts";
import { isRecord } from "#surfaces/web/kit/api-client.ts";
import { isWake } from "./wake.ts";

/** `waits`: nothing has come back since. */
export type HandedOn = "waits" | "over";

const WAITING_TOOLS: ReadonlySet<string> = new Set(["wait_for_event", "sleep"]);

/** By prompt. */
export function handedOnIn(entries: readonly Entry[]): Map<string, HandedOn> {
  const found = new Map<string, HandedOn>();
  for (const entry of entries) {
    if (entry.kind === "prompt" && isWake(entry))
      for (const promptId of found.keys()) found.set(promptId, "over");
    if (entry.kind !== "tool_result" || entry.promptId === null) continue;
    if (beginsWait(entry)) found.set(entry.promptId, "waits");
    else found.delete(entry.promptId);
  }
  return found;
}

function beginsWait({ tool }: Entry): boolean {
  if (!tool || tool.error !== null || !WAITING_TOOLS.has(tool.name)) return false;
  if (isRecord(tool.output)) return tool.output.waiting === true;
  try {
    const output: unknown = JSON.parse(String(tool.output));
    return isRecord(output) && output.waiting === true;
  } catch {
    return false;
  }
}
