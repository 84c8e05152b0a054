/** The only SQL on versions of personas, their texts, and the sessions that pin them. */
import { builder, inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { PersonaBlobRow, PersonaPinRow, PersonaTables, PersonaVersionRow } from "../schema.ts";

const prepare = statements<PersonaTables>();

const insertVersionRow = inserter<PersonaVersionRow>("persona_versions", [
  "id",
  "org_id",
  "persona_id",
  "number",
  "sha256",
  "manifest",
  "policy_author",
  "policy_trusted",
  "created_by",
  "created_at",
]);
export function insertVersion(tx: Tx, row: PersonaVersionRow): Promise<number> {
  return tx.execute(insertVersionRow(tx.dialect, [row]));
}

const selectVersion = prepare<{ id: string }, PersonaVersionRow>((db, p) =>
  db.selectFrom("persona_versions").selectAll().where("id", "=", p("id")),
);
export function findVersion(reader: Reader, id: string): Promise<PersonaVersionRow | undefined> {
  return reader.first(selectVersion, { id });
}

const selectNumber = prepare<{ personaId: string; number: number }, PersonaVersionRow>((db, p) =>
  db
    .selectFrom("persona_versions")
    .selectAll()
    .where("persona_id", "=", p("personaId"))
    .where("number", "=", p("number")),
);
export function findVersionNumber(
  reader: Reader,
  personaId: string,
  number: number,
): Promise<PersonaVersionRow | undefined> {
  return reader.first(selectNumber, { personaId, number });
}

const selectVersions = prepare<
  { personaId: string; before: number; limit: number },
  Omit<PersonaVersionRow, "manifest">
>((db, p) =>
  db
    .selectFrom("persona_versions")
    .select(["id", "org_id", "persona_id", "number", "sha256", "policy_author", "policy_trusted"])
    .select(["created_by", "created_at"])
    .where("persona_id", "=", p("personaId"))
    .where("number", "<", p("before"))
    .orderBy("number", "desc")
    .limit(p("limit")),
);
/** Lists versions, newest first. */
export function listVersions(
  reader: Reader,
  key: { personaId: string; before: number; limit: number },
): Promise<Omit<PersonaVersionRow, "manifest">[]> {
  return reader.all(selectVersions, key);
}

const insertBlobRow = prepare<PersonaBlobRow, unknown>((db, p) =>
  db
    .insertInto("persona_blobs")
    .values({
      persona_id: p("persona_id"),
      sha256: p("sha256"),
      bytes: p("bytes"),
      content: p("content"),
    })
    .onConflict((conflict) => conflict.columns(["persona_id", "sha256"]).doNothing()),
);
/** Stores texts. Existing ones stay: a hash stands for one text. */
export async function keepTexts(
  tx: Tx,
  personaId: string,
  texts: ReadonlyMap<string, string>,
): Promise<void> {
  for (const [sha256, content] of texts) {
    const bytes = Buffer.byteLength(content, "utf8");
    await tx.run(insertBlobRow, { persona_id: personaId, sha256, bytes, content });
  }
}

export async function readTexts(
  reader: Reader,
  personaId: string,
  hashes: readonly string[],
): Promise<Map<string, string>> {
  if (hashes.length === 0) return new Map();
  const rows = await reader.query<{ sha256: string; content: string }>(
    builder<PersonaTables>(reader.dialect)
      .selectFrom("persona_blobs")
      .select(["sha256", "content"])
      .where("persona_id", "=", personaId)
      .where("sha256", "in", hashes)
      .compile(),
  );
  return new Map(rows.map((row) => [row.sha256, row.content]));
}

const sumBlobs = prepare<{ personaId: string }, { bytes: number | string | null }>((db, p) =>
  db
    .selectFrom("persona_blobs")
    .select((eb) => eb.fn.sum<number | string | null>("bytes").as("bytes"))
    .where("persona_id", "=", p("personaId")),
);
export async function sumTextBytes(reader: Reader, personaId: string): Promise<number> {
  return Number((await reader.first(sumBlobs, { personaId }))?.bytes ?? 0);
}

const upsertPin = prepare<PersonaPinRow, unknown>((db, p) =>
  db
    .insertInto("persona_pins")
    .values({
      session_id: p("session_id"),
      org_id: p("org_id"),
      persona_id: p("persona_id"),
      version_id: p("version_id"),
      slug: p("slug"),
      version: p("version"),
      pinned_at: p("pinned_at"),
    })
    .onConflict((conflict) =>
      conflict.column("session_id").doUpdateSet((eb) => ({
        persona_id: eb.ref("excluded.persona_id"),
        version_id: eb.ref("excluded.version_id"),
        slug: eb.ref("excluded.slug"),
        version: eb.ref("excluded.version"),
        pinned_at: eb.ref("excluded.pinned_at"),
      })),
    ),
);
export function savePin(tx: Tx, row: PersonaPinRow): Promise<number> {
  return tx.run(upsertPin, row);
}

const selectPin = prepare<{ sessionId: string }, PersonaPinRow>((db, p) =>
  db.selectFrom("persona_pins").selectAll().where("session_id", "=", p("sessionId")),
);
export function findPin(reader: Reader, sessionId: string): Promise<PersonaPinRow | undefined> {
  return reader.first(selectPin, { sessionId });
}

export function listPins(
  reader: Reader,
  sessionIds: readonly string[],
): Promise<Pick<PersonaPinRow, "session_id" | "slug" | "version">[]> {
  const query = builder<PersonaTables>(reader.dialect)
    .selectFrom("persona_pins")
    .select(["session_id", "slug", "version"])
    .where("session_id", "in", sessionIds);
  return reader.query(query.compile());
}

const selectUse = prepare<{ personaId: string }, { session_id: string }>((db, p) =>
  db
    .selectFrom("persona_pins")
    .select("session_id")
    .where("persona_id", "=", p("personaId"))
    .limit(1),
);
export async function isInUse(reader: Reader, personaId: string): Promise<boolean> {
  return (await reader.first(selectUse, { personaId })) !== undefined;
}
