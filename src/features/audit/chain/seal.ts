/** Sealing: once a second one server at a time appends new rows to the chain. */
import type { Engine } from "#engine/index.ts";
import { applySeals, listUnsealed, lockHead, saveHead } from "../queries.ts";
import type { AuditHeadRow } from "../schema.ts";
import { sealRows } from "./chain.ts";
import { checkHead } from "./check-head.ts";
import type { Head, HeadKeeper } from "./kept-head.ts";

export const SEAL_EVERY_MS = 1_000;
const BATCH = 1_000;
/** A round ends even when rows come faster than they are sealed; the next one continues. */
const MAX_BATCHES = 10;

/** Returns the number of sealed rows. */
export async function sealTrail(
  engine: Engine,
  keeper: HeadKeeper,
  batch = BATCH,
): Promise<number> {
  let sealed = 0;
  for (let round = 0; round < MAX_BATCHES; round++) {
    const from = await keepHead(engine, keeper);
    const count = from ? await sealBatch(engine, keeper, from, batch) : 0;
    sealed += count;
    if (count < batch) break;
  }
  if (sealed > 0) await keepHead(engine, keeper);
  return sealed;
}

/**
 * Records the end of the trail in the file. A head that does not fit is recorded first and signed afterwards:
 * the trail continues, and the file says for good that it was broken. A head that fits is signed first: once
 * recorded, a head without a signature would look tampered with. Returns the checked head; undefined when
 * another server is working on it.
 */
async function keepHead(engine: Engine, keeper: HeadKeeper): Promise<Head | undefined> {
  const { store, clock } = engine;
  const check = await store.read((reader) => checkHead(reader, keeper, clock.now()));
  if (!check) return undefined;
  if (!check.broken && !(await signHead(engine, keeper, check.head))) return undefined;
  if (check.hasChanged) await keeper.save(check.kept);
  if (check.broken) await signHead(engine, keeper, check.head);
  return check.head;
}

/** Returns false when another server holds the head, or has moved it: its signature is not known yet. */
async function signHead(
  { store }: Engine,
  keeper: HeadKeeper,
  checked: AuditHeadRow,
): Promise<boolean> {
  if (keeper.isSigned(checked)) return true;
  return store.transaction(async (tx) => {
    const head = await lockHead(tx);
    if (!head || !isSame(head, checked)) return false;
    await saveHead(tx, signed(keeper, checked));
    return true;
  });
}

async function sealBatch(
  engine: Engine,
  keeper: HeadKeeper,
  from: Head,
  batch: number,
): Promise<number> {
  const waiting = await engine.store.read((reader) => listUnsealed(reader, 1));
  if (waiting.length === 0) return 0;
  return engine.store.transaction(async (tx) => {
    const head = await lockHead(tx);
    // Another server has sealed meanwhile: the next round checks its rows.
    if (!head || !isSame(head, from)) return 0;
    const rows = await listUnsealed(tx, batch);
    if (rows.length === 0) return 0;
    const { seals, head: next } = sealRows(head, rows);
    const changed = await applySeals(tx, seals);
    if (changed !== rows.length) throw new Error(`sealed ${changed} of ${rows.length} audit rows`);
    await saveHead(tx, signed(keeper, next));
    return rows.length;
  });
}

function signed(keeper: HeadKeeper, { seq, hash }: Head): Head & { mac: string } {
  return { seq, hash, mac: keeper.sign({ seq, hash }) };
}

function isSame(a: Head, b: Head): boolean {
  return a.seq === b.seq && a.hash === b.hash;
}
