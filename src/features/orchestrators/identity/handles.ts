/** Handles, the names of agents in an organisation; pure. */

export const MAX_HANDLE_CHARS = 30;
/** Groups of letters and digits with single dashes between them. */
export const HANDLE = /^(?=.{2,30}$)[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*$/;

/** Names with another meaning in an address, or that claim a role no agent has. */
const RESERVED: ReadonlySet<string> = new Set([
  "admin",
  "administrator",
  "agents",
  "all",
  "anyone",
  "channel",
  "everybody",
  "everyone",
  "here",
  "me",
  "moderator",
  "muster",
  "nobody",
  "official",
  "orchestrator",
  "org",
  "organisation",
  "organization",
  "owner",
  "root",
  "security",
  "session",
  "staff",
  "support",
  "system",
  "team",
  "user",
]);

/** Handles that differ only in case are equal. */
export const handleKey = (handle: string) => handle.toLowerCase();

/** Dashes and digits do not make a reserved name usable. */
export const isReserved = (handle: string) =>
  RESERVED.has(handleKey(handle).replaceAll(/[-\d]/g, ""));

/** True for the platform's name in any spelling, which nobody may use. */
export function isPlatformName(name: string): boolean {
  const letters = name
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[^\p{L}]/gu, "");
  return letters === "muster";
}

/**
 * Handle from a person's name; falls back to "agent" for a name without Latin letters or digits.
 */
export function handleFrom(name: string): string {
  const plain = name
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_HANDLE_CHARS)
    .replaceAll(/^-+|-+$/g, "");
  if (plain === "") return "agent";
  return plain.length === 1 ? `${plain}-agent` : plain;
}

/** The wanted handle if it and its numbered forms are allowed, otherwise a similar one. */
export function usableHandle(wanted: string): string {
  const stem = handleStem(wanted);
  return isReserved(wanted) || isReserved(stem) ? handleStem(`agent-${stem}`) : wanted;
}

/** The usable handle, or its first numbered form that is free. */
export function freeHandle(usable: string, taken: ReadonlySet<string>): string {
  if (!taken.has(handleKey(usable))) return usable;
  for (let number = 2; ; number++) {
    const handle = `${handleStem(usable)}-${number}`;
    if (!taken.has(handleKey(handle))) return handle;
  }
}

/** Prefix that all numbered forms of a handle share. */
export function handleStem(handle: string): string {
  return handle.slice(0, MAX_HANDLE_CHARS - 6).replace(/-+$/, "");
}
