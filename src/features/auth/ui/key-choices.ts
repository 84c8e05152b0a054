/** Scopes and expiry of a new key. Pure. */
import type { KEY_SCOPES } from "#features/auth/contract.ts";

export type KeyScope = (typeof KEY_SCOPES)[number];

export const SCOPE_WORDS: Record<KeyScope, string> = {
  "sessions:read": "Read sessions",
  "sessions:write": "Start and control sessions",
  tasks: "Tasks",
  memory: "Memory",
  mail: "Mail",
  approvals: "Answer approvals, one at a time",
  runners: "Connect your own runners",
  secrets: "Set secrets",
  account: "Account: keys and profile",
  admin: "Everything an admin can do",
};

/** Lists the scopes that the person has and can give to a key; the server decides in any case. */
export function scopesToGive(own: readonly string[], isAdmin: boolean): KeyScope[] {
  const all = Object.keys(SCOPE_WORDS) as KeyScope[];
  const held = own.includes("*") ? all : all.filter((scope) => own.includes(scope));
  return isAdmin ? held : held.filter((scope) => scope !== "admin");
}

export const LIFETIMES = [
  { days: 30, name: "In 30 days" },
  { days: 90, name: "In 90 days" },
  { days: 365, name: "In a year" },
  { days: 0, name: "Never" },
] as const;

const DAY_MS = 24 * 60 * 60_000;

/** Returns undefined for a key that never expires. */
export function expiryOf(days: number, now: number): string | undefined {
  return days === 0 ? undefined : new Date(now + days * DAY_MS).toISOString();
}
