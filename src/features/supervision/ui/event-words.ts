/** Worker event texts. Pure. */
import type { InboxItem, WorkerEventType } from "#features/delegation/contract.ts";
import type { AskedQuestion } from "#protocol/tools.ts";

export type Tone = "good" | "bad" | "warn" | "plain";

interface EventWords {
  label: string;
  tone: Tone;
}

const WORDS: Record<WorkerEventType, EventWords> = {
  "worker.ended": { label: "Finished", tone: "good" },
  "worker.ask_user": { label: "Question", tone: "warn" },
  "worker.auto_retry_failed": { label: "Model error", tone: "bad" },
  "worker.stopped_without_end": { label: "Stopped", tone: "bad" },
  "worker.deleted": { label: "Deleted", tone: "plain" },
  "worker.detached": { label: "Detached", tone: "plain" },
  "worker.notified": { label: "Message", tone: "plain" },
};

/** Falls back to the type's name for events of a newer server. */
export function eventWords({ type, payload }: Pick<InboxItem, "type" | "payload">): EventWords {
  if (payload.kind === "plan") return { label: "Plan", tone: "warn" };
  if (type === "worker.ended" && payload.outcome === "failed")
    return { label: "Failed", tone: "bad" };
  return WORDS[type] ?? { label: type.replace(/^worker\./, ""), tone: "plain" };
}

/** Formats a question with its options. */
function choiceText({ question, options = [] }: AskedQuestion): string {
  return [question, ...options.map(({ label }) => `- ${label}`)].join("\n");
}

/** Returns the worker's message or question. */
export function eventText({ payload }: Pick<InboxItem, "payload">): string {
  if (Array.isArray(payload.choices)) return payload.choices.map(choiceText).join("\n");
  if (Array.isArray(payload.questions)) return payload.questions.map(String).join("\n");
  if (typeof payload.text !== "string") return "";
  const missing = typeof payload.length === "number" ? payload.length - payload.text.length : 0;
  return missing > 0
    ? `${payload.text}… (${missing} more characters in the session)`
    : payload.text;
}
