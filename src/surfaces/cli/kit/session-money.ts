/** Cost and budget of a session, in words. Pure. */
import type { Session } from "#protocol/sessions.ts";

export function budgetLine({ budget, cost }: Pick<Session, "budget" | "cost">): string {
  const spent = cost === null ? "cost unknown" : `${dollars(cost)} spent`;
  return budget === null ? `none, ${spent}` : `${dollars(budget)}, ${spent}`;
}

function dollars(micros: number): string {
  return `$${(micros / 1_000_000).toFixed(2)}`;
}
