/** Pinned personas of sessions: which one and which version. A label marks sessions that have one. */
import { notFound } from "#base/refusal.ts";
import type { Reader, Tx } from "#base/store/index.ts";
import type { Feature, SessionRow } from "#engine/index.ts";
import { hasLabel, setLabel } from "#engine/sessions/index.ts";
import { holdPersona } from "../queries.ts";
import type { ResolvedPersona } from "../resolve.ts";
import { findPin, listPins, savePin } from "./version-queries.ts";

const LABEL = "persona";

export function hasPersona(session: Pick<SessionRow, "labels">): boolean {
  return hasLabel(session, LABEL);
}

/** Pins a version for a locked session, or replaces it when the session is refreshed. */
export async function pinPersona(
  tx: Tx,
  session: Pick<SessionRow, "id" | "org_id" | "labels">,
  persona: Pick<ResolvedPersona, "personaId" | "versionId" | "slug" | "version">,
): Promise<void> {
  if (!(await holdPersona(tx, persona.personaId))) throw notFound("persona");
  setLabel(session, LABEL, true);
  await savePin(tx, {
    session_id: session.id,
    org_id: session.org_id,
    persona_id: persona.personaId,
    version_id: persona.versionId,
    slug: persona.slug,
    version: persona.version,
    pinned_at: tx.now,
  });
}

/** Slug and version of a session's persona; asks the database only for sessions that have one. */
export async function findPinned(
  reader: Reader,
  session: Pick<SessionRow, "id" | "labels">,
): Promise<{ slug: string; version: number } | undefined> {
  return hasPersona(session) ? findPin(reader, session.id) : undefined;
}

export const describeSessions: NonNullable<Feature["describeSessions"]> = async (reader, rows) => {
  const ids = rows.filter(hasPersona).map(({ id }) => id);
  const pins = ids.length === 0 ? [] : await listPins(reader, ids);
  return new Map(
    pins.map(({ session_id, slug, version }) => [
      session_id,
      { persona: slug, personaVersion: Number(version) },
    ]),
  );
};
