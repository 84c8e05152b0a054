/** Cached queries that a batch of events makes stale. Entries are patched in place and not listed. */
import type { SessionEvent } from "#protocol/events.ts";

export interface Stale {
  session: boolean;
  queue: boolean;
  approvals: boolean;
  changes: boolean;
  usage: boolean;
  prompts: string[];
  /** Redacted entries. */
  redacted: string[];
}

export function staleAfter(events: readonly SessionEvent[]): Stale {
  const prompts = new Set<string>();
  let session = false;
  let queue = false;
  let approvals = false;
  let changes = false;
  let usage = false;
  for (const { type, promptId } of events) {
    const isPrompt = type.startsWith("prompt_");
    const isRun = type.startsWith("run_") || type.startsWith("gate_");
    approvals ||= type.startsWith("gate_");
    changes ||= type === "workspace_changed";
    usage ||= type === "model_call";
    session ||= isPrompt || isRun || type === "model_call" || type.startsWith("session_");
    queue ||= isPrompt || isRun;
    if ((isPrompt || isRun) && promptId !== null) prompts.add(promptId);
  }
  const redacted = events.flatMap(redactedBy);
  return { session, queue, approvals, changes, usage, prompts: [...prompts], redacted };
}

function redactedBy({ reason, data }: SessionEvent): string[] {
  const ids = reason === "entry_redacted" ? data?.entryIds : undefined;
  return Array.isArray(ids) ? ids.map(String) : [];
}
