/** Checks that a handle is free in an organisation, and suggests a similar one. */
import { Refusal } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import type { Person } from "#engine/index.ts";
import { listTakenHandles } from "../queries.ts";
import type { IdentityRow } from "../schema.ts";
import { freeHandle, handleKey, handleStem, usableHandle } from "./handles.ts";

export type HandleColumns = Pick<IdentityRow, "handle" | "handle_key">;

/** A person's own handle counts as free for that person. */
export async function checkHandle(
  reader: Reader,
  person: Person,
  handle: string,
): Promise<{ available: boolean; suggestion?: string }> {
  const usable = usableHandle(handle);
  const taken = await listTakenHandles(reader, person, handleKey(handleStem(usable)));
  const free = freeHandle(usable, taken);
  return free === handle ? { available: true } : { available: false, suggestion: free };
}

export async function requireFreeHandle(
  reader: Reader,
  person: Person,
  handle: string,
): Promise<void> {
  const { suggestion } = await checkHandle(reader, person, handle);
  if (suggestion === undefined) return;
  throw new Refusal(
    "conflict",
    "handle_taken",
    `@${handle} is taken. Choose another; @${suggestion} is free.`,
    { details: [{ path: "suggestion", message: suggestion }] },
  );
}
