/** Reads the signed record of where the oldest rows of the trail were cut off. */
import type { Reader } from "#base/store/index.ts";
import { readCut } from "../queries.ts";
import { CHAIN_START } from "./chain.ts";
import type { Cut, HeadKeeper } from "./kept-head.ts";

export const NEVER_CUT: Cut = { seq: 0, hash: CHAIN_START, throughAt: 0, at: 0 };

/** Returns "forged" for a record that this server's key did not sign. */
export async function findCut(reader: Reader, keeper: HeadKeeper): Promise<Cut | "forged"> {
  const row = await readCut(reader);
  if (!row) return NEVER_CUT;
  const { seq, hash, through_at: throughAt, at, mac } = row;
  const cut = { seq, hash, throughAt, at };
  return keeper.isSignedCut({ ...cut, mac }) ? cut : "forged";
}
