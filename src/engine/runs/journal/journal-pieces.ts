/**
 * Writes a batch of the journal in pieces, each a transaction of its own, and lets others work in
 * between: a runner decides how much it sends at once, and nobody else may wait for all of it. A
 * batch may be cut anywhere, because its items are numbered and a repeated one is left out.
 */

import type { ToolPolicy } from "#engine/tools/index.ts";
import type { Engine } from "#engine/work.ts";
import { JOURNAL_PIECE } from "#protocol/bounds.ts";
import { cutBySize } from "#protocol/rough-size.ts";
import { type Batch, type Journaled, journal } from "./journal.ts";

/** Writes the pieces in order; `last` writes the piece that may end the turn. */
export async function journalInPieces(
  engine: Engine,
  policy: ToolPolicy,
  batch: Batch,
  last: (piece: Batch) => Promise<Journaled>,
): Promise<Journaled> {
  const pieces = piecesOf(batch);
  const end = pieces.pop() as Batch;
  let verdicts: Extract<Journaled, { ok: true }>["verdicts"];
  for (const piece of pieces) {
    const done = await journal(engine, policy, piece);
    if (!done.ok) {
      // A settled turn accepts no more; the last piece tells if this very batch settled it.
      return batch.settle ? last(end) : done;
    }
    if (done.verdicts) verdicts = { ...verdicts, ...done.verdicts };
    await new Promise((resolve) => setImmediate(resolve));
  }
  const done = await last(end);
  if (!done.ok || !verdicts) return done;
  return { ...done, verdicts: { ...verdicts, ...done.verdicts } };
}

/**
 * Cuts a batch into at least one piece; bindings go with the first, the end of the turn with the
 * last.
 */
function piecesOf(batch: Batch): Batch[] {
  const { items, bind, settle, park, ...base } = batch;
  const [first = [], ...others] = cutBySize(items, JOURNAL_PIECE);
  const pieces: Batch[] = [{ ...base, items: first, bind }];
  let { firstOrdinal } = batch;
  for (const piece of others) {
    firstOrdinal += pieces.at(-1)?.items.length ?? 0;
    pieces.push({ ...base, firstOrdinal, items: piece });
  }
  return [...pieces.slice(0, -1), { ...(pieces.at(-1) as Batch), settle, park }];
}
