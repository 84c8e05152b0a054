/** Handles: by what name an agent is called in its org. Pure. */

export const MAX_HANDLE_CHARS = 30;
export const HANDLE = /^[A-Za-z0-9][A-Za-z0-9-]{1,29}$/;

/** Names that mean something else where agents are called. */
const RESERVED: ReadonlySet<string> = new Set([
  "admin",
  "agents",
  "all",
  "channel",
  "everyone",
  "here",
  "me",
  "muster",
  "orchestrator",
  "org",
  "session",
  "system",
  "user",
]);

/** Two handles that differ in capitals only are one. */
export const handleKey = (handle: string) => handle.toLowerCase();

export const isReserved = (handle: string) => RESERVED.has(handleKey(handle));

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

/** The wanted one, or the same with the first number that makes it free. */
export function freeHandle(wanted: string, taken: ReadonlySet<string>): string {
  const isFree = (handle: string) => !taken.has(handleKey(handle)) && !isReserved(handle);
  if (isFree(wanted)) return wanted;
  for (let number = 2; ; number++) {
    const handle = `${handleStem(wanted)}-${number}`;
    if (isFree(handle)) return handle;
  }
}

/** The beginning of a handle that every numbered one shares. */
export function handleStem(handle: string): string {
  return handle.slice(0, MAX_HANDLE_CHARS - 6).replace(/-+$/, "");
}
