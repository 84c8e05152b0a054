/**
 * Writes to the trail. An entry has no field that could hold content: only ids, names that `names.ts` allows,
 * numbers and booleans. It is inserted in the transaction of its event and sealed afterwards.
 */
import type { SessionRow, Work } from "#engine/index.ts";
import type { AuditEvent } from "./contract.ts";
import { idName } from "./names.ts";
import { insertAuditRows } from "./queries.ts";

interface Tokens {
  inputTokens: number | null;
  outputTokens: number | null;
}

/** Every string in an entry is a result of a function in `names.ts`. */
export type AuditEntry =
  | {
      action: "session_created";
      kind: string;
      runtime: string;
      isChild: boolean;
      persona: string | null;
      personaVersion: number | null;
    }
  | { action: "session_lifecycle"; from: string; to: string }
  | { action: "message_received"; channel: string; authorKind: string; chars: number }
  | {
      action: "message_complete";
      channel: string;
      durationMs: number | null;
      usage: Tokens;
      stopReason: string;
      outcome: string;
      attempts: number | null;
    }
  | {
      action: "message_error";
      channel: string;
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
      /** True if the provider did not report all of it. */
      estimated?: boolean;
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
    }
  | ChangeEntry
  | { action: "session_opened"; by: string | null; reasonChars: number }
  | { action: "entry_redacted"; by: string | null; entryId: string | null; kind: string };

/** A change of a setting: `change` was done to the thing with this id in the `area`. */
export interface ChangeEntry {
  action:
    | "person_changed"
    | "access_changed"
    | "setting_changed"
    | "signed_in"
    | "sign_in_failed"
    | "sign_in_locked"
    | "orchestrated";
  area: string;
  change: string;
  subjectId: string | null;
  by: string | null;
  detail?: string;
}

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
  person_changed: "people",
  access_changed: "access",
  setting_changed: "settings",
  signed_in: "access",
  sign_in_failed: "access",
  sign_in_locked: "access",
  session_opened: "access",
  entry_redacted: "session",
  orchestrated: "orchestration",
};

const WARNINGS: ReadonlySet<AuditEntry["action"]> = new Set([
  "message_error",
  "tool_denied",
  "sign_in_failed",
  "sign_in_locked",
  "session_opened",
  "entry_redacted",
]);

function severityOf(entry: AuditEntry): AuditEvent["severity"] {
  return WARNINGS.has(entry.action) ? "warning" : "info";
}

/** Organisation, session and person of an entry. */
interface EntryScope {
  orgId: string;
  sessionId: string | null;
  userId: string | null;
  runId: string | null;
}

export function record(
  work: Work,
  session: SessionRow,
  runId: string | null,
  entry: AuditEntry,
): Promise<void> {
  const { org_id: orgId, id: sessionId, owner_id: userId } = session;
  return recordAt(work, { orgId, sessionId, userId, runId }, entry);
}

export async function recordAt(work: Work, place: EntryScope, entry: AuditEntry): Promise<void> {
  const { action, ...metadata } = entry;
  work.insertLater(insertAuditRows, {
    id: work.ids.mint("aud"),
    org_id: place.orgId,
    at: work.now,
    category: CATEGORY[action],
    action,
    severity: severityOf(entry),
    session_id: idName(place.sessionId),
    user_id: idName(place.userId),
    run_id: idName(place.runId),
    metadata: JSON.stringify(metadata),
    seq: null,
    prev_hash: null,
    hash: null,
  });
}
