/** Visible queue in the order in which prompts will run. Pure. */
import type { SessionEvent } from "#protocol/events.ts";
import type { Page } from "#protocol/page.ts";
import type { Prompt } from "#protocol/sessions.ts";

export function isWaiting(prompt: Prompt): boolean {
  return prompt.state === "queued" || prompt.state === "collecting";
}

/** Sorts queued prompts before those still collecting, then by the server's position, then by age. */
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

/** Updates a prompt in the queue from the server's answer, or removes it. */
export function placePrompt(page: Page<Prompt>, prompt: Prompt): Page<Prompt> {
  const others = page.items.filter((item) => item.id !== prompt.id);
  return { ...page, items: isWaiting(prompt) ? [...others, prompt] : others };
}

/** Removes prompts that entered the transcript or settled. */
export function leaveQueue(page: Page<Prompt>, events: readonly SessionEvent[]): Page<Prompt> {
  const gone = new Set(events.filter(endsWaiting).map((event) => event.promptId));
  if (!page.items.some((prompt) => gone.has(prompt.id))) return page;
  return { ...page, items: page.items.filter((prompt) => !gone.has(prompt.id)) };
}

function endsWaiting(event: SessionEvent): boolean {
  if (event.promptId === null) return false;
  return event.type === "prompt_settled" || (event.type === "message" && event.kind === "prompt");
}
