/**
 * The calls of a turn that have no result yet, over all its attempts, and the next move for each.
 */

import type { Assignment, Decision } from "#protocol/frames.ts";
import type { Verdict } from "#protocol/sessions.ts";
import { ASK_USER_QUESTION } from "#protocol/tools.ts";
import { ASK_TOOL, type Call, EFFECT_TOOL, isJudged } from "../judging.ts";

export interface OpenCall extends Call {
  verdict: Verdict | undefined;
  decision: Decision | undefined;
  /** Journaled by an earlier attempt, which may have performed it. */
  isEarlier: boolean;
  /** Sent to the server, and not answered yet. */
  isSent: boolean;
}

/**
 * `park`: the decision is missing. `send`: the server performs it. `perform`: the runner performs
 * it.
 */
export type Move = "wait" | "park" | "send" | "perform" | "interrupted" | "refused";

const SERVER_TOOLS: ReadonlySet<string> = new Set([EFFECT_TOOL, ASK_TOOL]);

export class TurnCalls {
  readonly #open = new Map<string, OpenCall>();

  constructor({ journal, decisions }: Assignment) {
    for (const item of journal) {
      if (item.type === "post_tool") this.#open.delete(item.callId);
      if (item.type !== "pre_tool") continue;
      const { callId, tool, input, verdict } = item;
      const decision = decisions.find((one) => one.callId === callId);
      this.#open.set(callId, {
        callId,
        tool,
        input,
        verdict,
        decision,
        isEarlier: true,
        isSent: false,
      });
    }
  }

  add(call: Call): void {
    this.#open.set(call.callId, {
      ...call,
      verdict: undefined,
      decision: undefined,
      isEarlier: false,
      isSent: false,
    });
  }

  judged(verdicts: Record<string, Verdict>): void {
    for (const [callId, verdict] of Object.entries(verdicts)) {
      const call = this.#open.get(callId);
      if (call) call.verdict = verdict;
    }
  }

  get next(): OpenCall | undefined {
    return this.#open.values().next().value;
  }

  /** Closes a call. True when it was still open. */
  close(callId: string): boolean {
    return this.#open.delete(callId);
  }

  disconnected(): void {
    for (const call of this.#open.values()) call.isSent = false;
  }
}

export function moveOf({ callId, tool, verdict, decision, isEarlier, isSent }: OpenCall): Move {
  if (!isJudged(callId)) return "interrupted";
  if (verdict === undefined || isSent) return "wait";
  if (verdict.verdict === "deny" || verdict.verdict === "invalid") return "refused";
  if (verdict.verdict === "ask") {
    if (!decision) return "park";
    if (!decision.allowed) return "refused";
    if (tool === ASK_USER_QUESTION) return "perform";
  }
  if (SERVER_TOOLS.has(tool)) return "send";
  return isEarlier && !decision?.fresh ? "interrupted" : "perform";
}
