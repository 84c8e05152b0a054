/** Sample builders for tests of this folder: complete wire shapes from the few fields a test is about. */
import type { SessionEvent } from "#protocol/events.ts";
import type { NoticeMessage } from "#protocol/notices/notices.ts";
import type { Entry, Prompt } from "#protocol/sessions.ts";
import type { Approval } from "#surfaces/web/kit/approval.ts";

export const AT = "2026-03-01T10:00:00.000Z";

export function sampleEvent(
  fields: Partial<SessionEvent> & Pick<SessionEvent, "seq" | "type">,
): SessionEvent {
  return {
    v: 1,
    at: AT,
    sessionId: "ses_1",
    thread: "main",
    promptId: null,
    runId: null,
    entryId: null,
    kind: null,
    role: null,
    content: null,
    toolName: null,
    toolInput: null,
    toolOutput: null,
    error: null,
    exitCode: null,
    reason: null,
    data: null,
    ...fields,
  };
}

export function sampleEntry(fields: Partial<Entry> & Pick<Entry, "id" | "seq">): Entry {
  return {
    thread: "main",
    promptId: null,
    kind: "text",
    role: "assistant",
    text: "text",
    tool: null,
    author: null,
    notice: null,
    partial: false,
    at: AT,
    ...fields,
  };
}

export function sampleMessage(fields: Partial<NoticeMessage> = {}): NoticeMessage {
  return {
    id: "msg_1",
    type: "message",
    from: { kind: "user", id: "usr_2", name: "Bo", handle: null },
    relation: "guest_person",
    replyToId: null,
    about: { sessionId: null, taskId: null, ref: null },
    text: "Hi",
    ...fields,
  };
}

export function sampleApproval(fields: Partial<Approval> = {}): Approval {
  return {
    id: "apr_1",
    kind: "approval",
    sessionId: "ses_1",
    promptId: "pmt_1",
    runId: "run_1",
    callId: "call_1",
    tool: "bash",
    target: "ls",
    shown: { tool: "bash", input: { command: "ls" }, reason: "Because." },
    askedAt: AT,
    expiresAt: "2026-03-02T10:00:00.000Z",
    decidedAt: null,
    state: "pending",
    decision: null,
    scope: null,
    reason: null,
    answers: null,
    decidedBy: null,
    coveredBy: null,
    coversChildren: false,
    rulePreview: null,
    ...fields,
  };
}

export function samplePrompt(fields: Partial<Prompt> = {}): Prompt {
  return {
    id: "pmt_1",
    sessionId: "ses_1",
    thread: "main",
    mode: "followup",
    state: "queued",
    outcome: null,
    content: "do it",
    notice: null,
    attachments: [],
    author: { kind: "user", id: "usr_1", name: "Ada" },
    origin: { channelType: "web", channelId: null, scopeKey: null, replyRef: null },
    dispatchId: null,
    runId: null,
    attempts: 0,
    supersededBy: null,
    mergedInto: null,
    error: null,
    acceptedAt: AT,
    queuedAt: null,
    startedAt: null,
    settledAt: null,
    endedWaitingFor: null,
    waitingFor: null,
    ...fields,
  };
}
