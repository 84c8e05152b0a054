/** What a session with children is doing, in words. Pure. */
import type { Child, Family } from "#features/delegation/contract.ts";
import type { Activity } from "#protocol/sessions.ts";
import { plural } from "#surfaces/web/kit/money-words.ts";

export function hasChildren(family: Family): boolean {
  return family.items.length + family.more > 0;
}

const AT_WORK = new Set(["working", "needs_you", "recovering", "waiting"]);

/** Undefined when the activity says it all. */
export function stateWords(activity: Activity, family: Family | undefined): string | undefined {
  if (activity === "needs_you") return "Waiting for you";
  if (family === undefined) return undefined;
  const asking = family.items.filter((child) => child.activity === "needs_you").length;
  if (activity === "waiting") {
    const count = family.items.filter(isAtWork).length;
    const words = `Waiting for ${count === 0 ? "its children" : plural(count, "child", "children")}`;
    return asking === 0 ? words : `${words}, ${asking} ${asking === 1 ? "needs" : "need"} you`;
  }
  return undefined;
}

export function isAtWork({ activity }: Child): boolean {
  return AT_WORK.has(activity);
}
