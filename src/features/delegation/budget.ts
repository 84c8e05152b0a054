/**
 * What a tree may spend: a child's budget is taken out of its parent's when it is made, and what it
 * has not spent goes back when it ends, so that a tree never spends more than its root may.
 */
import { Refusal } from "#base/refusal.ts";
import type { SessionRow } from "#engine/index.ts";
import type { LinkRow } from "./schema.ts";

export function reserveBudget(parent: SessionRow, asked: number | null): number | null {
  if (parent.budget_micros === null) return asked;
  const left = parent.budget_micros - parent.cost_micros;
  const share = asked ?? Math.floor(left / 2);
  if (share > left || share <= 0) {
    throw new Refusal(
      "limit",
      "budget_exhausted",
      `This session has ${Math.max(0, left)} micro-units left to spend, which is less than the child was to get. Give it less, or ask for a larger budget.`,
    );
  }
  parent.budget_micros -= share;
  return share;
}

/** Of a child that has ended. What it spent beyond its own, while its turn wound down, is charged. */
export function returnBudget(parent: SessionRow, child: SessionRow, link: LinkRow): void {
  if (parent.budget_micros === null || child.budget_micros === null) return;
  const left = child.budget_micros - child.cost_micros;
  child.budget_micros -= left;
  parent.budget_micros += left;
  link.returned_micros += left;
}

/** One that comes back has again what it gave back, as far as its parent still has it. */
export function takeBudgetAgain(parent: SessionRow, child: SessionRow, link: LinkRow): void {
  if (parent.budget_micros === null || child.budget_micros === null) return;
  const free = Math.max(0, parent.budget_micros - parent.cost_micros);
  const share = Math.min(Math.max(0, link.returned_micros), free);
  parent.budget_micros -= share;
  child.budget_micros += share;
  link.returned_micros = 0;
}
