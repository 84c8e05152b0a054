/** Memory texts. Pure. */
import type { Memory } from "#features/memory/contract.ts";
import { plural } from "#surfaces/web/kit/text/money-words.ts";
import { agoWords } from "#surfaces/web/kit/text/time-words.ts";

/** Names of the categories on offer; a category may be any short text. */
const CATEGORY_WORDS: Readonly<Record<string, string>> = {
  preference: "Preference",
  workflow: "Workflow",
  context: "Context",
  project: "Project",
  decision: "Decision",
  repo_affinity: "Repository choice",
  routing_correction: "Delegation",
  task_pattern: "Task pattern",
  persona_preference: "Persona choice",
  general: "General",
};
export const SUGGESTED_CATEGORIES: readonly string[] = Object.keys(CATEGORY_WORDS);

export function categoryWords(category: string): string {
  return CATEGORY_WORDS[category] ?? category;
}

const USED_OFTEN = 1.3;
const FRESH = 0.7;
const FADING = 0.3;

/** Describes the remaining relevance. */
export function relevanceWords({ relevance, pinned }: Pick<Memory, "relevance" | "pinned">) {
  if (pinned) return "kept permanently";
  if (relevance >= USED_OFTEN) return "used often";
  if (relevance >= FRESH) return "fresh";
  return relevance >= FADING ? "fading" : "almost faded";
}

/** Same decay as on the server: one percent a day, and a memory below 0.1 is pruned. */
const DAILY_RETENTION = 0.99;
const MIN_RELEVANCE = 0.1;

export function fadingWords({ relevance, pinned }: Pick<Memory, "relevance" | "pinned">): string {
  const counts = `Relevance ${relevance.toFixed(2)} of 2.`;
  if (pinned) return `${counts} Pinned: never fades.`;
  const days = Math.max(0, Math.log(relevance / MIN_RELEVANCE) / -Math.log(DAILY_RETENTION));
  return `${counts} Unless a search finds it, it is removed in about ${plural(Math.round(days), "day")}.`;
}

export function accessWords(
  { accessCount, lastAccessedAt }: Pick<Memory, "accessCount" | "lastAccessedAt">,
  now: number,
): string {
  if (accessCount === 0) return "not used yet";
  return `used ${plural(accessCount, "time")}, last ${agoWords(lastAccessedAt, now)}`;
}

/** Returns a one-line name. */
export function nameOf({ title, content }: Pick<Memory, "title" | "content">): string {
  const line = (title ?? content).trim().split("\n")[0] ?? "";
  return line.length > 80 ? `${line.slice(0, 80)}…` : line;
}

/** Leaves out the host of GitHub repositories. */
export function repoWords(repo: string | null): string {
  return repo === null ? "no repository" : repo.replace(/^github\.com\//, "");
}
