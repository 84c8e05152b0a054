/** The visible queue: what waits, in the order in which it will run. Pure. */
import type { SessionEvent } from "#protocol/events.ts";
import type { Page } from "#protocol/page.ts";
import type { Prompt } from "#protocol/sessions.ts";

export function isWaiting(prompt: Prompt): boolean {
  return prompt.state === "queued" || prompt.state === "collecting";
}

/** Queued before still collecting; then by what the server says is ahead, then by age. */
export function orderQueue(prompts: readonly Prompt[]): Prompt[] {
  return prompts.filter(isWaiting).sort((a, b) => {
    if (a.state !== b.state) return a.state === "queued" ? -1 : 1;
    return aheadOf(a) - aheadOf(b) || waitingSince(a) - waitingSince(b) || (a.id < b.id ? -1 : 1);
  });
}

function aheadOf(prompt: Prompt): number {
  return prompt.waitingFor?.ahead ?? 0;
}

function waitingSince(prompt: Prompt): number {
  return Date.parse(prompt.queuedAt ?? prompt.acceptedAt);
}

/** Puts a prompt as the server last described it into the queue, or takes it out. */
export function placePrompt(page: Page<Prompt>, prompt: Prompt): Page<Prompt> {
  const others = page.items.filter((item) => item.id !== prompt.id);
  return { ...page, items: isWaiting(prompt) ? [...others, prompt] : others };
}

/** A prompt whose words entered the transcript, or that settled, waits no more. */
export function leaveQueue(page: Page<Prompt>, events: readonly SessionEvent[]): Page<Prompt> {
  const gone = new Set(events.filter(endsWaiting).map((event) => event.promptId));
  if (!page.items.some((prompt) => gone.has(prompt.id))) return page;
  return { ...page, items: page.items.filter((prompt) => !gone.has(prompt.id)) };
}

function endsWaiting(event: SessionEvent): boolean {
  if (event.promptId === null) return false;
  return event.type === "prompt_settled" || (event.type === "message" && event.kind === "prompt");
}
