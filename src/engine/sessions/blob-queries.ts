/** The only SQL on blobs and on who needs them. */
import { type Reader, statements, type Tx } from "#base/store/index.ts";
import type { BlobRefRow, BlobRow, KernelTables } from "../schema.ts";

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
    .onConflict((conflict) => conflict.columns(["org_id", "sha256"]).doNothing()),
);
const insertBlobRef = prepare<BlobRefRow, unknown>((db, p) =>
  db
    .insertInto("blob_refs")
    .values({ org_id: p("org_id"), sha256: p("sha256"), session_id: p("session_id") })
    .onConflict((conflict) => conflict.columns(["org_id", "sha256", "session_id"]).doNothing()),
);
/** Kept as long as a session that needs it. */
export async function keepBlob(tx: Tx, row: BlobRow, sessionId: string): Promise<void> {
  await tx.run(insertBlobRow, row);
  await tx.run(insertBlobRef, { org_id: row.org_id, sha256: row.sha256, session_id: sessionId });
}

const deleteLoneBlobs = prepare<{ sessionId: string }, unknown>((db, p) =>
  db
    .deleteFrom("blobs")
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom("blob_refs as mine")
          .select("mine.sha256")
          .whereRef("mine.org_id", "=", "blobs.org_id")
          .whereRef("mine.sha256", "=", "blobs.sha256")
          .where("mine.session_id", "=", p("sessionId")),
      ),
    )
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom("blob_refs as other")
            .select("other.sha256")
            .whereRef("other.org_id", "=", "blobs.org_id")
            .whereRef("other.sha256", "=", "blobs.sha256")
            .where("other.session_id", "!=", p("sessionId")),
        ),
      ),
    ),
);
const deleteBlobRefs = prepare<{ sessionId: string }, unknown>((db, p) =>
  db.deleteFrom("blob_refs").where("session_id", "=", p("sessionId")),
);
/** Deletes what only this session needed. */
export async function dropBlobs(tx: Tx, sessionId: string): Promise<void> {
  await tx.run(deleteLoneBlobs, { sessionId });
  await tx.run(deleteBlobRefs, { sessionId });
}
const selectBlob = prepare<{ orgId: string; sha256: string }, BlobRow>((db, p) =>
  db
    .selectFrom("blobs")
    .selectAll()
    .where("org_id", "=", p("orgId"))
    .where("sha256", "=", p("sha256")),
);
export function findBlob(
  reader: Reader,
  orgId: string,
  sha256: string,
): Promise<BlobRow | undefined> {
  return reader.first(selectBlob, { orgId, sha256 });
}
