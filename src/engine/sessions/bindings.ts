/** Channel bindings of a session, from the feature that keeps them. */
import type { Session } from "#protocol/sessions.ts";
import type { Engine } from "../work.ts";

/** Adds their current bindings to shown sessions. */
export async function withBindings(
  { store, listBindings }: Pick<Engine, "store" | "listBindings">,
  sessions: readonly Session[],
): Promise<Session[]> {
  if (!listBindings || sessions.length === 0) return [...sessions];
  const ids = sessions.map(({ id }) => id);
  const found = await store.read((reader) => listBindings(reader, ids));
  return sessions.map((session) => ({ ...session, channelBindings: found.get(session.id) ?? [] }));
}
