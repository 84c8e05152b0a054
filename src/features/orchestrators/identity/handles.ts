/** Handles: by what name an agent is called in its org. Pure. */

export const MAX_HANDLE_CHARS = 30;
/** Words of letters and digits with one dash between them. */
export const HANDLE = /^(?=.{2,30}$)[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*$/;

/** Names that mean something else where agents are called, or promise what no agent is. */
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

/** Two handles that differ in capitals only are one. */
export const handleKey = (handle: string) => handle.toLowerCase();

/** Dashes and numbers make no other name of it. */
export const isReserved = (handle: string) =>
  RESERVED.has(handleKey(handle).replaceAll(/[-\d]/g, ""));

/** The name of the platform is nobody's, however it is written. */
export function isPlatformName(name: string): boolean {
  const letters = name
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[^\p{L}]/gu, "");
  return letters === "muster";
}

/** From a person's name; of a name in other letters nothing may be left. */
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

/** The wanted one, if it and every one with a number to it may be given; else one like it. */
export function usableHandle(wanted: string): string {
  const stem = handleStem(wanted);
  return isReserved(wanted) || isReserved(stem) ? handleStem(`agent-${stem}`) : wanted;
}

/** One that is usable, or the same with the first number that makes it free. */
export function freeHandle(usable: string, taken: ReadonlySet<string>): string {
  if (!taken.has(handleKey(usable))) return usable;
  for (let number = 2; ; number++) {
    const handle = `${handleStem(usable)}-${number}`;
    if (!taken.has(handleKey(handle))) return handle;
  }
}

/** The beginning of a handle that every numbered one shares. */
export function handleStem(handle: string): string {
  return handle.slice(0, MAX_HANDLE_CHARS - 6).replace(/-+$/, "");
}
