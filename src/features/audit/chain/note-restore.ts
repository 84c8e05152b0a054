/**
 * A restored database has an older trail. The server that restored it signs a record of that, by which every
 * server of the database accepts the step back once, and only to that position.
 */
import * as z from "zod";
import type { Engine } from "#engine/index.ts";
import { insertRestore, readSealedHash } from "../queries.ts";
import type { HeadKeeper } from "./kept-head.ts";

/** End of the trail in the restored copy. */
export const restoredTrailSchema = z.object({
  id: z.string().min(1).max(100),
  at: z.number(),
  seq: z.number().int(),
  hash: z.string(),
});
export type RestoredTrail = z.infer<typeof restoredTrailSchema>;

export async function noteRestore(
  { store }: Engine,
  keeper: HeadKeeper,
  { id, at, seq, hash }: RestoredTrail,
): Promise<void> {
  await store.transaction(async (tx) => {
    const found = seq === 0 ? "" : await readSealedHash(tx, seq);
    // The database is not the restored one: no step back is accepted.
    if (found !== hash) return;
    await insertRestore(tx, { id, at, seq, hash, mac: keeper.signRestore({ id, seq, hash }) });
  });
}
