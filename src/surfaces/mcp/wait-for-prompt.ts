/**
 * Waits until a prompt is settled, telling what goes on meanwhile. Whoever stops waiting stops
 * nothing else: the turn goes on, and its answer can be asked for later.
 */
import type { Clock } from "#base/clock.ts";
import type { Kernel, Principal } from "#engine/index.ts";
import type { SessionEvent } from "#protocol/events.ts";
import type { Prompt } from "#protocol/sessions.ts";
import type { SessionFeeds } from "#surfaces/live/index.ts";
import type { CallContext } from "./toolbox.ts";

export interface WaitParts {
  kernel: Pick<Kernel, "prompts" | "sessions">;
  feeds: SessionFeeds;
  clock: Clock;
}

/** The prompt as it is when it is settled, or when the time is over or nobody waits any more. */
export async function waitForPrompt(
  { kernel, feeds, clock }: WaitParts,
  principal: Principal,
  prompt: Pick<Prompt, "id" | "sessionId">,
  timeoutMs: number,
  { signal, progress }: Pick<CallContext, "signal" | "progress">,
): Promise<Prompt> {
  const over = new AbortController();
  const ended = AbortSignal.any([signal, over.signal]);
  const { lastSeq } = await kernel.sessions.authorizeRead(principal, prompt.sessionId);
  const leave = feeds.follow(prompt.sessionId, lastSeq, {
    event({ type, json }) {
      if (type === "prompt_settled" && isOf(json, prompt.id)) over.abort();
      else if (type in TELLING) tell(json, prompt.id, progress);
      return true;
    },
    delta: () => true,
    drained: async () => {},
    movedBack: () => {},
  });
  try {
    // What was settled before the first event that is followed is found here.
    const now = await kernel.prompts.get(principal, prompt.id);
    if (now.state === "settled") return now;
    await clock.sleep(timeoutMs, ended);
    return await kernel.prompts.get(principal, prompt.id);
  } finally {
    leave();
  }
}

function isOf(json: string, promptId: string): boolean {
  return (JSON.parse(json) as SessionEvent).promptId === promptId;
}

const TELLING: Readonly<Record<string, (event: SessionEvent) => string>> = {
  run_claimed: () => "has begun",
  pre_tool: ({ toolName }) => `uses ${toolName ?? "a tool"}`,
  gate_opened: () => "waits for a decision of yours in Muster",
  gate_closed: () => "goes on",
  run_lost: () => "lost its runner and begins again where it was",
};

function tell(json: string, promptId: string, progress: (message: string) => void): void {
  const event = JSON.parse(json) as SessionEvent;
  if (event.promptId === promptId) progress(TELLING[event.type]?.(event) ?? "");
}
