/** Lines about children that have changed; pure. A child's questions are shown as approvals. */
import type { Child } from "#features/delegation/contract.ts";
import { safeLine } from "#surfaces/cli/kit/text/terminal.ts";

export function describeChange(before: Child | undefined, now: Child): string | null {
  const name = childName(now);
  if (!before) return isOver(now) ? null : `${name}: started`;
  if (isOver(now) && !isOver(before)) return `${name}: ${now.lifecycle}`;
  if (!isOver(now) && isOver(before)) return `${name}: resumed`;
  if (now.activity === before.activity) return null;
  if (now.activity === "failed" || now.activity === "recovering") return `${name}: ${now.activity}`;
  return null;
}

export function childName({ title, sessionId }: Pick<Child, "title" | "sessionId">): string {
  return safeLine(title ?? sessionId);
}

export function isOver({ lifecycle }: { lifecycle: string }): boolean {
  return lifecycle === "archived" || lifecycle === "terminated";
}
