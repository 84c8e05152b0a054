/**
 * Liveness of the servers that share a PostgreSQL database: each holds an advisory lock on a
 * connection of its own. PostgreSQL frees the lock within milliseconds when the process ends and
 * its socket closes, so a killed server is known to be dead long before its leases end. A server
 * that is frozen, or cut off silently, keeps its lock; its leases end instead.
 */
import { createHash } from "node:crypto";
import type { Reader } from "../store.ts";

/**
 * First of the two keys of these locks. Locks of connections have a single key and never clash.
 */
export const LIVENESS_CLASS = 7_474_748;

/**
 * Second key: 31 bits of a hash, because PostgreSQL takes signed integers and shows unsigned ones.
 */
export function livenessKey(serverId: string): number {
  return createHash("sha256").update(serverId).digest().readUInt32BE(0) >>> 1;
}

const SELECT_LOCKS = `select objid::bigint as key from pg_locks
 where locktype = 'advisory' and objsubid = 2 and granted and classid = ${LIVENESS_CLASS}
   and database = (select oid from pg_database where datname = current_database())`;

/**
 * Returns the servers that hold no lock now. SQLite has one server, so there every other server is
 * dead.
 */
export async function findDeadServers(
  reader: Reader,
  serverIds: readonly string[],
): Promise<string[]> {
  if (reader.dialect === "sqlite" || serverIds.length === 0) return [...serverIds];
  const locks = await reader.query<{ key: number }>({ sql: SELECT_LOCKS, parameters: [] });
  const held = new Set(locks.map(({ key }) => Number(key)));
  return serverIds.filter((id) => !held.has(livenessKey(id)));
}
