/** Exit codes of commands, for scripts. The numbers are fixed; the help shows this table. */
import { Refusal, type RefusalKind } from "#base/refusal.ts";
import { ServerRefusal } from "../client/server-refusal.ts";

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
  refused: 4,
  unauthorised: 5,
  notFound: 6,
  conflict: 7,
  tampered: 8,
  interrupted: 130,
} as const;

const MEANINGS: Record<keyof typeof EXIT, string> = {
  ok: "done",
  failed: "the turn failed, or doctor found a problem",
  usage: "wrong usage or an invalid setting",
  unreachable: "the server cannot be reached",
  refused: "refused",
  unauthorised: "not signed in, or not allowed",
  notFound: "not found",
  conflict: "not possible in the present state",
  tampered: "the audit trail was tampered with",
  interrupted: "interrupted",
};

export function describeExitCodes(): string {
  const names = Object.keys(EXIT) as (keyof typeof EXIT)[];
  const lines = names.map((name) => `  ${String(EXIT[name]).padEnd(5)}${MEANINGS[name]}`);
  return `Exit codes:\n${lines.join("\n")}`;
}

const CODE_BY_REFUSAL: Record<RefusalKind, number> = {
  invalid: EXIT.usage,
  unauthenticated: EXIT.unauthorised,
  forbidden: EXIT.unauthorised,
  not_found: EXIT.notFound,
  conflict: EXIT.conflict,
  unavailable: EXIT.unreachable,
  too_large: EXIT.refused,
  unsupported: EXIT.refused,
  limit: EXIT.refused,
};

const CODE_BY_STATUS: Record<number, number> = {
  401: EXIT.unauthorised,
  403: EXIT.unauthorised,
  404: EXIT.notFound,
  409: EXIT.conflict,
  502: EXIT.unreachable,
  503: EXIT.unreachable,
  504: EXIT.unreachable,
};

export function exitCodeOf(error: unknown): number {
  if (error instanceof ServerRefusal) {
    return CODE_BY_STATUS[error.status] ?? (error.status < 500 ? EXIT.refused : EXIT.failed);
  }
  if (error instanceof Refusal) return CODE_BY_REFUSAL[error.kind];
  return EXIT.failed;
}
