/** The store's front door: `openStore(url)`. */
import { resolve } from "node:path";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import { Refusal } from "../refusal.ts";
import { openSqlite } from "./sqlite/sqlite.ts";
import type { Store } from "./store.ts";

export interface OpenStoreOptions {
  /** `sqlite:<path>`, `sqlite::memory:` or `postgres://…`. */
  url: string;
  clock: Clock;
  log: Log;
  onSyncFailure: (error: unknown) => void;
  /** SQLite only: space to reserve for when the disk is full. */
  reserveBytes?: number;
  gate?: "closed" | "left_open";
}

export async function openStore(options: OpenStoreOptions): Promise<Store> {
  const { url, clock, log } = options;
  if (url.startsWith("sqlite:")) {
    const path = url.slice("sqlite:".length);
    const { onSyncFailure, reserveBytes = 0, gate = "closed" } = options;
    return openSqlite({
      path: path === ":memory:" ? path : resolve(path),
      clock,
      log,
      onSyncFailure,
      reserveBytes,
      gate,
    });
  }
  if (/^postgres(ql)?:\/\//.test(url)) {
    const { openPostgres } = await import("./postgres/postgres.ts");
    return openPostgres({ url, clock, log });
  }
  throw new Refusal(
    "invalid",
    "database_url_invalid",
    "MUSTER_DATABASE_URL must start with sqlite: or postgres://",
  );
}

export { findDeadServers } from "./postgres/liveness.ts";
export {
  builder,
  type CompiledStatement,
  type Dialect,
  inserter,
  statements,
} from "./statement.ts";
export {
  type Migration,
  type Reader,
  ReadersBusy,
  ReadTooSlow,
  type Store,
  type Tx,
} from "./store.ts";
