/** Observed turns of the native agent: each prompt with its events and its calls. */
import type { SessionEvent } from "#protocol/events.ts";
import type { Prompt, Verdict } from "#protocol/sessions.ts";
import { tokenOf } from "../clients/native-scripts.ts";
import type { ObservedSession } from "../history.ts";

/** One prompt with its part of the log. */
export interface NativeTurn {
  prompt: Prompt;
  events: SessionEvent[];
  calls: ObservedCall[];
}

export interface ObservedCall {
  callId: string;
  pre: SessionEvent;
  post: SessionEvent | undefined;
  ruling: Verdict["verdict"] | undefined;
  /** Number of times it was performed; undefined for a kind without traces. */
  times: number | undefined;
}

export function turnsOf(
  session: ObservedSession,
  tokens: ReadonlyMap<string, number>,
): NativeTurn[] {
  return session.prompts.map((prompt) => {
    const events = session.log
      .map(({ event }) => event)
      .filter(({ promptId }) => promptId === prompt.id);
    const calls = events
      .filter(({ type }) => type === "pre_tool")
      .map((pre) => observedCall(pre, events, tokens));
    return { prompt, events, calls };
  });
}

function observedCall(
  pre: SessionEvent,
  events: readonly SessionEvent[],
  tokens: ReadonlyMap<string, number>,
): ObservedCall {
  const callId = String(pre.data?.callId);
  const token = tokenOf(pre.toolInput);
  return {
    callId,
    pre,
    post: events.find(({ type, data }) => type === "post_tool" && data?.callId === callId),
    ruling: (pre.data?.verdict as Verdict | undefined)?.verdict,
    times: token === undefined ? undefined : (tokens.get(token) ?? 0),
  };
}

/** True if a runner was lost between two positions in the log. */
export function wasLost({ events }: NativeTurn, after: number, before: number): boolean {
  return events.some(({ type, seq }) => type === "run_lost" && seq > after && seq < before);
}
