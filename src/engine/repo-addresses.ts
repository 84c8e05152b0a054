import type { Reader } from "#base/store/index.ts";

/** Lists the addresses that sessions on a repository may have, by its name or any of its addresses. */
export type RepoAddressLister = (
  reader: Reader,
  orgId: string,
  nameOrUrl: string,
) => Promise<readonly string[]>;
