/** Sealing: once a second, by one server at a time, the rows that have come are put in the chain. */
import type { Engine } from "#engine/index.ts";
import { sealRows } from "./chain.ts";
import { applySeals, listUnsealed, lockHead, saveHead } from "./queries.ts";

export const SEAL_EVERY_MS = 1_000;
const BATCH = 1_000;
/** A round ends even when rows come faster than they are sealed; the next goes on. */
const MAX_BATCHES = 10;

/** Returns how many were sealed. */
export async function sealTrail(engine: Engine, batch = BATCH): Promise<number> {
  let sealed = 0;
  for (let round = 0; round < MAX_BATCHES; round++) {
    const count = await sealBatch(engine, batch);
    sealed += count;
    if (count < batch) break;
  }
  return sealed;
}

async function sealBatch(engine: Engine, batch: number): Promise<number> {
  const waiting = await engine.store.read((reader) => listUnsealed(reader, 1));
  if (waiting.length === 0) return 0;
  return engine.store.transaction(async (tx) => {
    const head = await lockHead(tx);
    if (!head) return 0;
    // Read behind the lock: another server may just have sealed what was waiting.
    const rows = await listUnsealed(tx, batch);
    if (rows.length === 0) return 0;
    const { seals, head: next } = sealRows(head, rows);
    const changed = await applySeals(tx, seals);
    if (changed !== rows.length) throw new Error(`sealed ${changed} of ${rows.length} audit rows`);
    await saveHead(tx, next);
    return rows.length;
  });
}
