/** The place at which the oldest rows of the trail were cut off, as its signed record says. */
import type { Reader } from "#base/store/index.ts";
import { readCut } from "../queries.ts";
import { CHAIN_START } from "./chain.ts";
import type { Cut, HeadKeeper } from "./kept-head.ts";

export const NEVER_CUT: Cut = { seq: 0, hash: CHAIN_START, throughAt: 0, at: 0 };

/** "forged": there is a record that this server's key did not sign. */
export async function findCut(reader: Reader, keeper: HeadKeeper): Promise<Cut | "forged"> {
  const row = await readCut(reader);
  if (!row) return NEVER_CUT;
  const { seq, hash, through_at: throughAt, at, mac } = row;
  const cut = { seq, hash, throughAt, at };
  return keeper.isSignedCut({ ...cut, mac }) ? cut : "forged";
}
