/**
 * Budget of a tree. A child's budget is reserved from its parent's when the child is created, by
 * any route, and the unspent part returns when the child ends. A turn stops at the first request
 * that finds its session's budget spent. So a tree spends at most the root's budget, plus the one
 * request that each turn may have in flight by then.
 */
import { Refusal } from "#base/refusal.ts";
import type { SessionRow } from "#engine/index.ts";
import type { LinkRow } from "../schema.ts";

/** Returns the reserved amount; null if the parent has no budget. */
export function reserveBudget(parent: SessionRow, child: SessionRow): number | null {
  if (parent.budget_micros === null) return null;
  const left = parent.budget_micros - parent.cost_micros;
  const share = child.budget_micros ?? Math.floor(left / 2);
  if (share > left || share <= 0) {
    throw new Refusal(
      "limit",
      "budget_exhausted",
      `This session has ${Math.max(0, left)} micro-units left, which is less than the child's budget. Give it less, or ask for a larger budget.`,
    );
  }
  parent.budget_micros -= share;
  child.budget_micros = share;
  return share;
}

/**
 * Returns the unspent part of an ended child's budget. An overdraft from its last turn is charged
 * to the parent.
 */
export function returnBudget(parent: SessionRow, child: SessionRow, link: LinkRow): void {
  if (link.reserved_micros === null) return;
  if (parent.budget_micros === null || child.budget_micros === null) return;
  const left = link.reserved_micros - child.cost_micros;
  link.reserved_micros -= left;
  link.returned_micros += left;
  child.budget_micros -= left;
  parent.budget_micros += left;
}

/** Gives a returning child its returned budget again, as far as the parent still has it. */
export function takeBudgetAgain(parent: SessionRow, child: SessionRow, link: LinkRow): void {
  if (link.reserved_micros === null) return;
  if (parent.budget_micros === null || child.budget_micros === null) return;
  const free = Math.max(0, parent.budget_micros - parent.cost_micros);
  const share = Math.min(Math.max(0, link.returned_micros), free);
  parent.budget_micros -= share;
  child.budget_micros += share;
  link.reserved_micros += share;
  link.returned_micros = 0;
}

/** Adjusts the reservation after a person changed the child's budget. */
export function changeShare(
  parent: SessionRow,
  child: SessionRow,
  link: LinkRow,
  before: number | null,
): void {
  if (link.reserved_micros === null || parent.budget_micros === null || before === null) return;
  if (child.budget_micros === null || child.budget_micros < child.cost_micros) {
    throw new Refusal(
      "conflict",
      "budget_too_small",
      `The session has already spent ${child.cost_micros} micro-units of its parent's budget. Set at least that much.`,
    );
  }
  const more = child.budget_micros - before;
  const left = parent.budget_micros - parent.cost_micros;
  if (more > left) {
    throw new Refusal(
      "limit",
      "budget_exhausted",
      `The parent session has ${Math.max(0, left)} micro-units left. Raise the budget of ${parent.id} first.`,
    );
  }
  parent.budget_micros -= more;
  link.reserved_micros += more;
}
