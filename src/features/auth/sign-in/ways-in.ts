import type { Reader } from "#base/store/index.ts";
import { listAccountsOf } from "../account-queries.ts";
import { isGood } from "../credentials/issue.ts";
import { findPassword, listCredentials } from "../queries.ts";

/** True if a person could still sign in: by a password, a linked account, a key or a browser. */
export async function hasWayIn(reader: Reader, userId: string, now: number): Promise<boolean> {
  if (await findPassword(reader, userId)) return true;
  if ((await listAccountsOf(reader, userId)).length > 0) return true;
  for (const kind of ["owner_key", "api_key", "cookie", "sign_in_link"] as const)
    if ((await listCredentials(reader, userId, kind)).some((row) => isGood(row, now))) return true;
  return false;
}
