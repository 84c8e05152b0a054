/**
 * What became of a child, by its own log alone, and so what its parent must hear of it: how often at
 * least and at most. Who may end a child stands in its title, so that nobody's deed is another's.
 */
import type { SessionEvent } from "#protocol/events.ts";
import type { Prompt } from "#protocol/sessions.ts";
import type { ObservedMember } from "../delegation/come-to-rest.ts";
import { keeperOf, letterToken, tokenOf } from "../delegation/tasks.ts";

export interface Due {
  type: string;
  /** Of a turn that completed, or of what the child wanted known. */
  token?: string | undefined;
  min: 0 | 1;
  /** Why, for a report. */
  cause: string;
}

/** The provider was asked again and again. */
const RETRIED = /^model_(unavailable|rate_limited|silent|stream_broken|quota_exhausted)$/;
const LOST = /^(attempts_exhausted|no_matching_runner|workspace_offline)$/;

interface Life {
  parentId: string;
  isOwn: boolean;
  lifecycle: string;
  isLinked: boolean;
  /** Turns in which it said that it was done. */
  completed: Set<string>;
  /** Such a turn has just ended, and it is put away with it. */
  isClosing: boolean;
  /** Runs that somebody stopped, and not for another prompt. */
  stopped: Set<string>;
  /** Turns that made way for a prompt which had not settled yet, by that prompt. */
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
    token: letterToken(message),
    // Its parent may have let go of it between the call and its answer.
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
  // Its parent's own doing, or the end that it announced itself.
  if (!isEnd || !life.isLinked || life.isOwn || life.isClosing) return undefined;
  return { type: "worker.deleted", min: 1, cause };
}

function isGone(lifecycle: string): boolean {
  return lifecycle === "archived" || lifecycle === "terminated";
}

/** One that its parent answered before it was told need not be told. */
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

/** It is news unless its parent did it, or it goes on with another prompt. */
function cutShort(life: Life, event: SessionEvent): Due | undefined {
  const by = event.data?.supersededBy;
  if (typeof by === "string") {
    const next = life.prompts.get(by);
    const isGoingOn = next?.startedAt != null || next?.outcome === "merged";
    if (!isGoingOn && !life.settled.has(by)) life.replaced.set(by, event);
    if (isGoingOn || !life.settled.has(by)) return undefined;
  } else if (life.isOwn) {
    // Nobody else stops it; a turn that waited for its runner is cut without a word in the log.
    return undefined;
  }
  return stoppedBy(life, event);
}

function stoppedBy(life: Life, event: SessionEvent): Due | undefined {
  if (life.isOwn && life.stopped.has(event.runId ?? "")) return undefined;
  return { type: "worker.stopped_without_end", min: 1, cause: causeOf(event) };
}

/** What the parent had asked for is told as such; else the turn that had made way for it has just ended. */
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
