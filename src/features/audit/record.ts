/**
 * Writing to the trail. An entry has no field that could hold content: ids, names that `names.ts`
 * lets through, numbers and yes or no. It is inserted in the transaction that made it happen and
 * sealed afterwards.
 */
import type { SessionRow, Work } from "#engine/index.ts";
import type { AuditEvent } from "./contract.ts";
import { idName } from "./names.ts";
import { insertAuditRow } from "./queries.ts";

interface Tokens {
  inputTokens: number | null;
  outputTokens: number | null;
}

/** Strings in here are only what the functions of `names.ts` return. */
export type AuditEntry =
  | { action: "session_created"; kind: string; runtime: string; isChild: boolean }
  | { action: "session_lifecycle"; from: string; to: string }
  | { action: "message_received"; channel: string; authorKind: string; chars: number }
  | {
      action: "message_complete";
      durationMs: number | null;
      usage: Tokens;
      stopReason: string;
      attempts: number | null;
    }
  | {
      action: "message_error";
      durationMs: number | null;
      usage: Tokens;
      code: string;
      attempts: number | null;
    }
  | {
      action: "model_called";
      model: string;
      durationMs: number | null;
      usage: Tokens & { cachedInputTokens: number | null; reasoningTokens: number | null };
      costMicros: number | null;
      stopReason: string;
    }
  | {
      action: "tool_executed";
      tool: string;
      durationMs: number | null;
      exitCode: number | null;
      failed: boolean;
      inputChars: number | null;
      outputChars: number | null;
      truncated: boolean;
    }
  | { action: "tool_denied"; tool: string; code: "policy" | "person" | "expired" | "invalid" }
  | { action: "approval_asked"; approvalId: string | null; kind: string; tool: string }
  | {
      action: "approval_decided";
      approvalId: string | null;
      kind: string;
      tool: string;
      state: "decided" | "expired" | "cancelled";
      allowed: boolean;
      scope: "once" | "session" | "always" | null;
      by: string;
    };

type Category = AuditEvent["category"];
const CATEGORY: Readonly<Record<AuditEntry["action"], Category>> = {
  session_created: "session",
  session_lifecycle: "session",
  message_received: "channel",
  message_complete: "channel",
  message_error: "channel",
  model_called: "provider",
  tool_executed: "tool",
  tool_denied: "tool",
  approval_asked: "approval",
  approval_decided: "approval",
};

function severityOf(entry: AuditEntry): AuditEvent["severity"] {
  if (entry.action === "message_error") return "error";
  return entry.action === "tool_denied" ? "warning" : "info";
}

export async function record(
  work: Work,
  session: SessionRow,
  runId: string | null,
  entry: AuditEntry,
): Promise<void> {
  const { action, ...metadata } = entry;
  await insertAuditRow(work.tx, {
    id: work.ids.mint("aud"),
    org_id: session.org_id,
    at: work.now,
    category: CATEGORY[action],
    action,
    severity: severityOf(entry),
    session_id: idName(session.id),
    user_id: idName(session.owner_id),
    run_id: idName(runId),
    metadata: JSON.stringify(metadata),
    seq: null,
    prev_hash: null,
    hash: null,
  });
}
