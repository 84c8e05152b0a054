/**
 * The fate of a child by its own log alone, and the notifications due to its parent: at least and
 * at most. The title of a child says who may end it, so that every action has one possible actor.
 */
import type { SessionEvent } from "#protocol/events.ts";
import type { Prompt } from "#protocol/sessions.ts";
import type { ObservedMember } from "../delegation/come-to-rest.ts";
import { keeperOf, messageToken, tokenOf } from "../delegation/tasks.ts";

export interface Due {
  type: string;
  /** The token of a completed turn, or of a message from the child. */
  token?: string | undefined;
  min: 0 | 1;
  /** The reason, for a report. */
  cause: string;
}

/** Errors after which the provider is asked again. */
const RETRIED = /^model_(unavailable|rate_limited|silent|stream_broken|quota_exhausted)$/;
const LOST = /^(attempts_exhausted|no_matching_runner|workspace_offline)$/;

interface Life {
  parentId: string;
  isOwn: boolean;
  lifecycle: string;
  isLinked: boolean;
  /** Turns in which the child reported completion. */
  completed: Set<string>;
  /** Such a turn has just ended, and the child is archived with it. */
  isClosing: boolean;
  /** Runs that someone stopped, and not for another prompt. */
  stopped: Set<string>;
  /** Turns replaced by a prompt that has not settled yet, by that prompt. */
  replaced: Map<string, SessionEvent>;
  settled: Set<string>;
  prompts: ReadonlyMap<string, Prompt>;
  gates: ReadonlyMap<string, SessionEvent>;
}

export function duesOf(child: ObservedMember, parentId: string): Due[] {
  const life: Life = {
    parentId,
    isOwn: keeperOf(child.title) === "own",
    lifecycle: "active",
    isLinked: true,
    completed: new Set(),
    isClosing: false,
    stopped: new Set(),
    replaced: new Map(),
    settled: new Set(),
    prompts: new Map(child.prompts.map((prompt) => [prompt.id, prompt])),
    gates: new Map(
      child.log
        .filter(({ event }) => event.type === "gate_closed")
        .map(({ event }) => [String(event.data?.gateId), event]),
    ),
  };
  return child.log.flatMap(({ event }) => {
    const due = follow(life, event);
    const isPart = event.type === "prompt_settled" || event.type === "session_stop";
    if (!isPart) life.isClosing = false;
    return due ? [due] : [];
  });
}

function follow(life: Life, event: SessionEvent): Due | undefined {
  switch (event.type) {
    case "session_updated":
      return updated(life, event);
    case "run_stopping":
      if (event.reason === "stop") life.stopped.add(event.runId ?? "");
      return undefined;
    case "post_tool":
      return event.error === null ? performed(life, event) : undefined;
    case "gate_opened":
      return life.isLinked && event.data?.kind !== "approval" ? asked(life, event) : undefined;
    case "prompt_settled":
      life.isClosing = event.reason === "completed" && life.completed.has(event.promptId ?? "");
      return life.isLinked ? settled(life, event) : undefined;
    default:
      return undefined;
  }
}

function performed(life: Life, { toolName, toolInput, promptId, seq }: SessionEvent) {
  if (toolName === "complete_session") life.completed.add(promptId ?? "");
  if (toolName !== "notify_parent") return undefined;
  const { message } = toolInput as { message: string };
  const due: Due = {
    type: "worker.notified",
    token: messageToken(message),
    // The parent may have detached the child between the call and its answer.
    min: life.isLinked ? 1 : 0,
    cause: `#${seq} notify_parent`,
  };
  return due;
}

function updated(life: Life, { reason, data, seq }: SessionEvent): Due | undefined {
  const cause = `#${seq} ${reason}`;
  if (reason === "detached") {
    const wasLinked = life.isLinked;
    life.isLinked = false;
    return wasLinked && !life.isOwn ? { type: "worker.detached", min: 1, cause } : undefined;
  }
  const to = data?.lifecycle;
  if (typeof to !== "string") return undefined;
  const from = life.lifecycle;
  life.lifecycle = to;
  const isEnd = isGone(to) && !isGone(from);
  // The parent's own action, or the end that the child announced itself.
  if (!isEnd || !life.isLinked || life.isOwn || life.isClosing) return undefined;
  return { type: "worker.deleted", min: 1, cause };
}

function isGone(lifecycle: string): boolean {
  return lifecycle === "archived" || lifecycle === "terminated";
}

/** A question that the parent answered first needs no notification. */
function asked({ gates, parentId }: Life, { data, seq }: SessionEvent): Due {
  const closing = gates.get(String(data?.gateId));
  const isParents = closing?.data?.by === `session:${parentId}`;
  return { type: "worker.ask_user", min: isParents ? 0 : 1, cause: `#${seq} question` };
}

function settled(life: Life, event: SessionEvent): Due | undefined {
  const { promptId, runId, reason, data } = event;
  life.settled.add(promptId ?? "");
  if (reason === "withdrawn") return withdrawn(life, event);
  if (runId === null || (life.isOwn && isGone(life.lifecycle))) return undefined;
  const cause = causeOf(event);
  switch (reason) {
    case "completed": {
      const content = life.prompts.get(promptId ?? "")?.content ?? "";
      return { type: "worker.ended", token: tokenOf(content), min: 1, cause };
    }
    case "failed":
      return { type: typeOfFailure(String(data?.code)), min: 1, cause };
    case "aborted":
    case "superseded":
      return cutShort(life, event);
    default:
      return undefined;
  }
}

function causeOf({ seq, promptId, reason }: SessionEvent): string {
  return `#${seq} ${promptId} ${reason}`;
}

/** Notifies the parent unless it did this itself, or the child continues with another prompt. */
function cutShort(life: Life, event: SessionEvent): Due | undefined {
  const by = event.data?.supersededBy;
  if (typeof by === "string") {
    const next = life.prompts.get(by);
    const isGoingOn = next?.startedAt != null || next?.outcome === "merged";
    if (!isGoingOn && !life.settled.has(by)) life.replaced.set(by, event);
    if (isGoingOn || !life.settled.has(by)) return undefined;
  } else if (life.isOwn) {
    // Nobody else stops it; a turn that waited for its runner is cut without a log entry.
    return undefined;
  }
  return stoppedBy(life, event);
}

function stoppedBy(life: Life, event: SessionEvent): Due | undefined {
  if (life.isOwn && life.stopped.has(event.runId ?? "")) return undefined;
  return { type: "worker.stopped_without_end", min: 1, cause: causeOf(event) };
}

/**
 * A withdrawn prompt of the parent is notified as such; else the turn it had replaced has just
 * ended.
 */
function withdrawn(life: Life, event: SessionEvent): Due | undefined {
  if (isGone(life.lifecycle)) return undefined;
  const prompt = life.prompts.get(event.promptId ?? "");
  if (prompt?.author.id === life.parentId) return stoppedBy(life, event);
  const replaced = life.replaced.get(event.promptId ?? "");
  return replaced && stoppedBy(life, replaced);
}

function typeOfFailure(code: string): string {
  if (RETRIED.test(code)) return "worker.auto_retry_failed";
  return LOST.test(code) ? "worker.stopped_without_end" : "worker.ended";
}
