/**
 * Waits until a prompt is settled, and reports progress meanwhile. Ending the wait ends nothing else: the
 * turn continues, and its reply can be requested later.
 */
import type { Clock } from "#base/clock.ts";
import { type Kernel, type Principal, partyOf } from "#engine/index.ts";
import type { SessionEvent } from "#protocol/events.ts";
import type { Prompt } from "#protocol/sessions.ts";
import type { SessionFeeds } from "#surfaces/live/index.ts";
import type { CallContext } from "./toolbox.ts";

export interface WaitParts {
  kernel: Pick<Kernel, "prompts" | "sessions">;
  feeds: SessionFeeds;
  clock: Clock;
}

/** Returns the prompt when it is settled, when the time is over, or when nobody waits any more. */
export async function waitForPrompt(
  parts: WaitParts,
  principal: Principal,
  prompt: Pick<Prompt, "id" | "sessionId">,
  timeoutMs: number,
  { signal, progress }: Pick<CallContext, "signal" | "progress">,
): Promise<Prompt> {
  const get = () => parts.kernel.prompts.get(principal, prompt.id);
  let hasBegun = false;
  const begin = () => {
    if (!hasBegun) progress("has started");
    hasBegun = true;
  };
  const settled = await readAndWait(parts, principal, prompt.sessionId, {
    timeoutMs,
    signal,
    isRelevant({ type, json }) {
      if (type === "prompt_settled" && isEventOf(json, prompt.id)) return true;
      if (type === "run_claimed" && isEventOf(json, prompt.id)) begin();
      if (type in EVENT_MESSAGES) reportEvent(json, prompt.id, progress);
      return false;
    },
    async look() {
      const now = await get();
      if (now.state === "settled") return now;
      // The prompt may have been claimed before the session was followed.
      if (now.startedAt !== null) begin();
      return undefined;
    },
  });
  return settled ?? get();
}

export interface WaitOptions<T> {
  timeoutMs: number;
  signal: AbortSignal;
  isRelevant(event: { type: string; json: string }): boolean;
  /** Returns undefined while there is nothing yet. */
  look(): Promise<T | undefined>;
}

/** Reads, waits for events of the session if there was nothing, and reads again. */
export async function readAndWait<T>(
  { kernel, feeds, clock }: WaitParts,
  principal: Principal,
  sessionId: string,
  { timeoutMs, signal, isRelevant, look }: WaitOptions<T>,
): Promise<T | undefined> {
  const over = new AbortController();
  const { lastSeq } = await kernel.sessions.authorizeRead(principal, sessionId);
  const leave = feeds.follow(sessionId, lastSeq, {
    party: partyOf(principal),
    isFull: () => false,
    event(event) {
      if (isRelevant(event)) over.abort();
    },
    delta: () => {},
    drained: async () => {},
    movedBack: () => {},
  });
  try {
    // Finds what happened before the first followed event.
    const now = await look();
    if (now !== undefined) return now;
    await clock.sleep(timeoutMs, AbortSignal.any([signal, over.signal]));
    return await look();
  } finally {
    void leave();
  }
}

function isEventOf(json: string, promptId: string): boolean {
  return (JSON.parse(json) as SessionEvent).promptId === promptId;
}

const EVENT_MESSAGES: Readonly<Record<string, (event: SessionEvent) => string>> = {
  pre_tool: ({ toolName }) => `uses ${toolName ?? "a tool"}`,
  gate_opened: () => "is waiting for your decision in Muster",
  gate_closed: () => "continues",
  run_lost: () => "lost its runner and continues on another",
};

function reportEvent(json: string, promptId: string, progress: (message: string) => void): void {
  const event = JSON.parse(json) as SessionEvent;
  if (event.promptId === promptId) progress(EVENT_MESSAGES[event.type]?.(event) ?? "");
}
