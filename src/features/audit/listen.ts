/** Records kernel events as entries of the trail. */
import type { GateDecision } from "#engine/gates/index.ts";
import type {
  GateRow,
  JudgedCall,
  KernelEvent,
  Listener,
  PromptRow,
  SessionRow,
  Work,
} from "#engine/index.ts";
import { findPinned } from "#features/personas/index.ts";
import {
  channelName,
  codeName,
  count,
  idName,
  modelName,
  outcomeName,
  personaName,
  runtimeName,
  stopReason,
  toolName,
  turnStop,
} from "./names.ts";
import { listModels } from "./queries.ts";
import { type AuditEntry, record, recordAt } from "./record.ts";
import { actionOf } from "./setting-actions.ts";

type EventOf<T extends KernelEvent["type"]> = Extract<KernelEvent, { type: T }>;

export const listen: Listener = async (work, event) => {
  if (event.type === "setting_changed") return settingChanged(work, event);
  if (event.type === "session_missing" || event.type === "records_deleted") return;
  const { row } = event.session;
  switch (event.type) {
    case "session_created":
      return record(work, row, null, await createdEntry(work, row));
    case "session_lifecycle":
      return record(work, row, null, {
        action: "session_lifecycle",
        from: codeName(event.from),
        to: row.lifecycle,
      });
    case "prompt_admitted":
      return record(work, row, event.prompt.run_id, receivedEntry(event));
    case "prompt_settled":
      return record(work, row, event.prompt.run_id, settledEntry(event));
    case "model_called":
      return record(work, row, event.run.id, await modelEntry(work, event));
    case "call_judged":
      return callJudged(work, row, event.run.id, event.call);
    case "call_ended":
      return record(work, row, event.run.id, endedEntry(work, event));
    case "gate_opened":
      return record(work, row, event.gate.run_id, openedEntry(work, event.gate));
    case "gate_closed":
      return gateClosed(work, row, event.gate);
    case "session_opened": {
      const { reasonChars } = event;
      const by = actorId(event.by);
      return record(work, row, null, { action: "session_opened", by, reasonChars });
    }
    case "entry_redacted":
      return record(work, row, null, {
        action: "entry_redacted",
        by: actorId(event.by),
        entryId: idName(event.entryId),
        kind: codeName(event.kind),
      });
  }
};

/** Only the person who made the change, and admins, see the entry. */
async function settingChanged(work: Work, event: EventOf<"setting_changed">): Promise<void> {
  const area = codeName(event.area);
  const change = codeName(event.action);
  const by = actorId(event.by);
  const isPerson = event.by?.startsWith("user:") ?? false;
  const userId = isPerson ? by : (event.session?.owner_id ?? null);
  await recordAt(
    work,
    { orgId: event.orgId, sessionId: event.session?.id ?? null, userId, runId: null },
    {
      action: actionOf(area, change),
      area,
      change,
      subjectId: idName(event.subjectId),
      by,
      ...(event.detail === undefined ? {} : { detail: codeName(event.detail) }),
    },
  );
}

/** Returns the id in a principal's key; the server itself has none. */
function actorId(by: string | null): string | null {
  if (by === "system") return by;
  return idName(by?.slice(by.indexOf(":") + 1) ?? null);
}

/** An invalid call is not performed either, and leaves a row that says so. */
async function callJudged(
  work: Work,
  row: SessionRow,
  runId: string,
  { tool, verdict }: JudgedCall,
): Promise<void> {
  if (verdict === "deny") return record(work, row, runId, denied(work, tool, "policy"));
  if (verdict === "invalid") return record(work, row, runId, denied(work, tool, "invalid"));
}

async function createdEntry(work: Work, row: SessionRow): Promise<AuditEntry> {
  const persona = await findPinned(work.tx, row);
  return {
    action: "session_created",
    kind: row.kind,
    runtime: runtimeName(row.runtime),
    isChild: row.parent_session_id !== null,
    persona: personaName(persona?.slug ?? null),
    personaVersion: count(persona?.version ?? null),
  };
}

function receivedEntry({ prompt }: EventOf<"prompt_admitted">): AuditEntry {
  return {
    action: "message_received",
    channel: channelOf(prompt),
    authorKind: prompt.author_kind,
    chars: prompt.content.length,
  };
}

function channelOf({ origin }: Pick<PromptRow, "origin">): string {
  const { channelType } = JSON.parse(origin) as { channelType?: string };
  return channelName(channelType);
}

function settledEntry({ prompt, run }: EventOf<"prompt_settled">): AuditEntry {
  const from = prompt.started_at ?? prompt.accepted_at;
  const shared = {
    channel: channelOf(prompt),
    durationMs: prompt.settled_at === null ? null : Math.max(0, prompt.settled_at - from),
    usage: {
      inputTokens: count(run?.input_tokens ?? null),
      outputTokens: count(run?.output_tokens ?? null),
    },
    attempts: run ? run.attempts : null,
  };
  if (prompt.outcome === "failed")
    return { action: "message_error", ...shared, code: codeName(prompt.error_code) };
  const outcome = outcomeName(prompt.outcome);
  // A turn that was cut has its outcome as the reason; a completed one has the model's stop reason.
  const stop = outcome === "completed" ? turnStop(run?.model_stop) : outcome;
  return { action: "message_complete", ...shared, stopReason: stop, outcome };
}

async function modelEntry(work: Work, { call, run }: EventOf<"model_called">): Promise<AuditEntry> {
  return {
    action: "model_called",
    model: modelName(call.model, await listModels(work.tx, run.runner_id)),
    durationMs: count(call.durationMs),
    usage: {
      inputTokens: count(call.inputTokens),
      outputTokens: count(call.outputTokens),
      cachedInputTokens: count(call.cachedInputTokens),
      reasoningTokens: count(call.reasoningTokens),
    },
    costMicros: count(call.costMicros),
    stopReason: stopReason(call.stopReason),
    ...(call.estimated ? { estimated: true } : {}),
  };
}

function endedEntry(work: Work, { call }: EventOf<"call_ended">): AuditEntry {
  return {
    action: "tool_executed",
    tool: toolName(work, call.tool),
    durationMs: count(call.durationMs),
    exitCode: count(call.exitCode),
    failed: call.failed,
    inputChars: count(call.inputChars),
    outputChars: count(call.outputChars),
    truncated: call.truncated,
  };
}

function openedEntry(work: Work, gate: GateRow): AuditEntry {
  const tool = toolName(work, gate.tool);
  return { action: "approval_asked", approvalId: idName(gate.id), kind: gate.kind, tool };
}

async function gateClosed(work: Work, session: SessionRow, gate: GateRow): Promise<void> {
  if (gate.state === "pending") return;
  const decision = gate.decision === null ? null : (JSON.parse(gate.decision) as GateDecision);
  const allowed = decision?.allowed ?? false;
  await record(work, session, gate.run_id, {
    action: "approval_decided",
    approvalId: idName(gate.id),
    kind: gate.kind,
    tool: toolName(work, gate.tool),
    state: gate.state,
    allowed,
    scope: decision?.scope ?? null,
    by: idName(gate.decided_by) ?? "system",
  });
  if (gate.state === "expired")
    await record(work, session, gate.run_id, denied(work, gate.tool, "expired"));
  if (gate.state === "decided" && !allowed)
    await record(work, session, gate.run_id, denied(work, gate.tool, "person"));
}

function denied(
  work: Work,
  tool: string,
  code: "policy" | "person" | "expired" | "invalid",
): AuditEntry {
  return { action: "tool_denied", tool: toolName(work, tool), code };
}
