/** The only SQL on blobs and their references. */
import { type Reader, statements, type Tx } from "#base/store/index.ts";
import type { BlobRefRow, BlobRow, KernelTables } from "#engine/schema.ts";

const prepare = statements<KernelTables>();

const insertBlobRow = prepare<BlobRow, unknown>((db, p) =>
  db
    .insertInto("blobs")
    .values({
      org_id: p("org_id"),
      sha256: p("sha256"),
      size: p("size"),
      media_type: p("media_type"),
      data: p("data"),
      created_at: p("created_at"),
    })
    // The update changes nothing but locks the row, so that a purge which drops the last other
    // reference at this moment waits, and then finds this one.
    .onConflict((conflict) =>
      conflict
        .columns(["org_id", "sha256"])
        .doUpdateSet((eb) => ({ size: eb.ref("excluded.size") })),
    ),
);
const insertBlobRef = prepare<BlobRefRow, unknown>((db, p) =>
  db
    .insertInto("blob_refs")
    .values({
      org_id: p("org_id"),
      sha256: p("sha256"),
      session_id: p("session_id"),
      media_type: p("media_type"),
    })
    .onConflict((conflict) => conflict.columns(["org_id", "sha256", "session_id"]).doNothing()),
);
/** Keeps a blob for as long as a session refers to it. */
export async function keepBlob(tx: Tx, row: BlobRow, sessionId: string): Promise<void> {
  await tx.run(insertBlobRow, row);
  const { org_id, sha256, media_type } = row;
  await tx.run(insertBlobRef, { org_id, sha256, session_id: sessionId, media_type });
}

const selectRefs = prepare<{ sessionId: string; limit: number }, BlobRefRow>((db, p) =>
  db.selectFrom("blob_refs").selectAll().where("session_id", "=", p("sessionId")).limit(p("limit")),
);
type BlobKey = Pick<BlobRefRow, "org_id" | "sha256" | "session_id">;
const deleteBlobRef = prepare<BlobKey, unknown>((db, p) =>
  db
    .deleteFrom("blob_refs")
    .where("org_id", "=", p("org_id"))
    .where("sha256", "=", p("sha256"))
    .where("session_id", "=", p("session_id")),
);
const lockBlobRow = prepare<Omit<BlobKey, "session_id">, { sha256: string }>((db, p, dialect) => {
  const query = db
    .selectFrom("blobs")
    .select("sha256")
    .where("org_id", "=", p("org_id"))
    .where("sha256", "=", p("sha256"));
  return dialect === "postgres" ? query.forUpdate() : query;
});
const deleteLoneBlob = prepare<Omit<BlobKey, "session_id">, unknown>((db, p) =>
  db
    .deleteFrom("blobs")
    .where("org_id", "=", p("org_id"))
    .where("sha256", "=", p("sha256"))
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom("blob_refs")
            .select("session_id")
            .where("org_id", "=", p("org_id"))
            .where("sha256", "=", p("sha256")),
        ),
      ),
    ),
);
/**
 * Drops at most `limit` references of a session, and the blobs without any reference left. Returns
 * the number of references dropped.
 */
export async function dropSomeBlobs(tx: Tx, sessionId: string, limit: number): Promise<number> {
  const refs = await tx.all(selectRefs, { sessionId, limit });
  for (const { org_id, sha256, session_id } of refs) {
    // A separate statement: the next one must see references of the transaction that held the row
    // until now.
    await tx.first(lockBlobRow, { org_id, sha256 });
    await tx.run(deleteBlobRef, { org_id, sha256, session_id });
    await tx.run(deleteLoneBlob, { org_id, sha256 });
  }
  return refs.length;
}
const selectBlob = prepare<{ sessionId: string; sha256: string }, BlobRow>((db, p) =>
  db
    .selectFrom("blobs")
    .innerJoin("blob_refs", (join) =>
      join
        .onRef("blob_refs.org_id", "=", "blobs.org_id")
        .onRef("blob_refs.sha256", "=", "blobs.sha256"),
    )
    .select(["blobs.org_id", "blobs.sha256", "blobs.size", "blobs.data", "blobs.created_at"])
    // The session's own media type: that of others with the same bytes would disclose them.
    .select((eb) => eb.fn.coalesce("blob_refs.media_type", "blobs.media_type").as("media_type"))
    .where("blob_refs.session_id", "=", p("sessionId"))
    .where("blob_refs.sha256", "=", p("sha256")),
);
/**
 * Blob that the session refers to. Knowing a hash is not enough: another session's blob is not
 * found.
 */
export function findBlob(
  reader: Reader,
  sessionId: string,
  sha256: string,
): Promise<BlobRow | undefined> {
  return reader.first(selectBlob, { sessionId, sha256 });
}
