/**
 * Writes a batch of the journal in pieces, each a transaction of its own, and lets others work in
 * between: a runner decides how much it sends at once, and nobody else may wait for all of it. A
 * batch may be cut anywhere, because its items are numbered and a repeated one is left out.
 */
import { roughSize } from "#base/rough-size.ts";
import type { Bench } from "../tools/index.ts";
import type { Engine } from "../work.ts";
import { type Batch, type Journaled, journal } from "./journal.ts";

const PIECE_ITEMS = 50;
const PIECE_CHARS = 500_000;

/** `last` writes the piece that may end the turn. */
export async function journalInPieces(
  engine: Engine,
  bench: Bench,
  batch: Batch,
  last: (piece: Batch) => Promise<Journaled>,
): Promise<Journaled> {
  const pieces = piecesOf(batch);
  const end = pieces.pop() as Batch;
  let verdicts: Extract<Journaled, { ok: true }>["verdicts"];
  for (const piece of pieces) {
    const done = await journal(engine, bench, piece);
    if (!done.ok) {
      // A turn that has settled takes no more; whether by this very batch, its last piece says.
      return batch.settle ? last(end) : done;
    }
    if (done.verdicts) verdicts = { ...verdicts, ...done.verdicts };
    await new Promise((resolve) => setImmediate(resolve));
  }
  const done = await last(end);
  if (!done.ok || !verdicts) return done;
  return { ...done, verdicts: { ...verdicts, ...done.verdicts } };
}

/** At least one; what binds goes with the first, what ends the turn with the last. */
function piecesOf(batch: Batch): Batch[] {
  const { items, bind, settle, park, ...base } = batch;
  const pieces: Batch[] = [];
  let from = 0;
  while (from < items.length || pieces.length === 0) {
    let to = from;
    for (let chars = 0; to < items.length && to - from < PIECE_ITEMS; to++) {
      chars += roughSize(items[to]);
      if (to > from && chars > PIECE_CHARS) break;
    }
    const firstOrdinal = batch.firstOrdinal + from;
    pieces.push({ ...base, firstOrdinal, items: items.slice(from, to) });
    from = to;
  }
  if (bind) (pieces[0] as Batch).bind = bind;
  return [...pieces.slice(0, -1), { ...(pieces.at(-1) as Batch), settle, park }];
}
