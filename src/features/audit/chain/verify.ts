/** Verifies the chain from its start, one page at a time, whatever its length. */
import type { Engine } from "#engine/index.ts";
import type { Verification } from "../contract.ts";
import { countUnsealed, listSealed, readHead } from "../queries.ts";
import type { AuditRow } from "../schema.ts";
import { brokenLink, CHAIN_START } from "./chain.ts";
import { checkHead } from "./check-head.ts";
import { findCut, NEVER_CUT } from "./cut.ts";
import type { Cut, HeadKeeper } from "./kept-head.ts";

const PAGE = 1_000;

export async function verifyTrail(
  { store, clock }: Engine,
  keeper: HeadKeeper,
  page = PAGE,
): Promise<Verification> {
  const outside = keeper.load();
  const check = await store.read((reader) => checkHead(reader, keeper, clock.now()));
  const head = check?.head;
  const end = { seq: head?.seq ?? 0, hash: head?.hash ?? CHAIN_START };
  const cut = await store.read((reader) => findCut(reader, keeper));
  const walked = await walk(store, keeper, cut === "forged" ? NEVER_CUT : cut, end.seq, page);
  const { begin, reached, firstBroken } = walked;
  const unsealed = await store.read(countUnsealed);
  const noted = check?.kept.breaks[0];
  const broken =
    (cut === "forged" ? FORGED_CUT : null) ??
    firstBroken ??
    endBroken(reached, end) ??
    (await findRowBeyondEnd(store)) ??
    (check ? noted && { seq: noted.seq, why: noted.why } : NO_HEAD) ??
    null;
  return {
    ok: broken === null,
    sealed: reached.seq,
    unsealed,
    firstBroken: broken,
    head: end,
    outside:
      outside === undefined || outside === "changed"
        ? null
        : { seq: outside.seq, at: new Date(outside.at).toISOString() },
    cut:
      begin.seq === 0
        ? null
        : {
            seq: begin.seq,
            through: new Date(begin.throughAt).toISOString(),
            at: new Date(begin.at).toISOString(),
          },
    restores: (check?.kept.restores ?? []).map(({ at, seq }) => ({
      at: new Date(at).toISOString(),
      seq,
    })),
  };
}

const FORGED_CUT = {
  seq: 1,
  why: "the record of removed rows was not written by this server's key",
};
const NO_HEAD = { seq: 0, why: "the record of the trail's end is gone" };

type ChainPosition = { seq: number; hash: string };
type Broken = Verification["firstBroken"];

interface WalkResult {
  /** Current start of the trail: housekeeping may have cut it meanwhile. */
  begin: Cut;
  reached: ChainPosition;
  firstBroken: Broken;
}

async function walk(
  store: Engine["store"],
  keeper: HeadKeeper,
  from: Cut,
  endSeq: number,
  page: number,
): Promise<WalkResult> {
  let begin = from;
  let reached: ChainPosition = { seq: from.seq, hash: from.hash };
  while (reached.seq < endSeq) {
    const rows = await store.read((reader) => listSealed(reader, reached.seq, page));
    const checked = checkLinks(reached, rows, endSeq);
    reached = checked.reached;
    const { firstBroken } = checked;
    if (firstBroken || rows.length === 0) {
      // Rows that are missing here may have been cut off since the last page was read.
      const cut = await store.read((reader) => findCut(reader, keeper));
      if (cut === "forged" || cut.seq <= reached.seq) return { begin, reached, firstBroken };
      begin = cut;
      reached = { seq: cut.seq, hash: cut.hash };
    }
    // Other work must run between two pages.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { begin, reached, firstBroken: null };
}

function checkLinks(
  from: ChainPosition,
  rows: readonly AuditRow[],
  endSeq: number,
): { reached: ChainPosition; firstBroken: Broken } {
  let reached = from;
  for (const row of rows) {
    if (reached.seq === endSeq) break;
    const firstBroken = brokenLink(reached, row);
    if (firstBroken) return { reached, firstBroken };
    reached = { seq: row.seq as number, hash: row.hash as string };
  }
  return { reached, firstBroken: null };
}

function endBroken(reached: ChainPosition, end: ChainPosition): Broken {
  // The trail has grown, and was cut beyond the end that it had at the start of this check.
  if (reached.seq > end.seq) return null;
  if (reached.seq < end.seq)
    return { seq: reached.seq + 1, why: `row ${reached.seq + 1} is missing` };
  if (reached.hash !== end.hash)
    return { seq: end.seq, why: "the last row is not the one that was sealed last" };
  return null;
}

/**
 * Finds rows that claim a position behind the end. The end only grows, so it is read again after the search.
 */
async function findRowBeyondEnd(store: Engine["store"]): Promise<Broken> {
  const before = await store.read(readHead);
  const [row] = await store.read((reader) => listSealed(reader, before?.seq ?? 0, 1));
  const after = await store.read(readHead);
  const seq = row?.seq ?? 0;
  if (seq <= (after?.seq ?? 0)) return null;
  return { seq, why: `row ${seq} was never sealed` };
}
