/**
 * Holds a server's liveness lock on a connection of its own, and takes it again whenever that
 * connection is lost.
 */
import pg from "pg";
import type { Log } from "../../log.ts";
import { LIVENESS_CLASS, livenessKey } from "./liveness.ts";

const CONNECT_TIMEOUT_MS = 2_000;
const RETRY_MS = 200;
/** Interval of the queries that detect a connection that was cut off silently. */
const ASK_EVERY_MS = 1_000;
const ANSWER_WITHIN_MS = 2_000;

export class LivenessLock {
  readonly #url: string;
  readonly #log: Log;
  #serverId: string | undefined;
  #client: pg.Client | undefined;
  #holdsLock = false;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(url: string, log: Log) {
    this.#url = url;
    this.#log = log;
  }

  /** Resolves when a connection holds the lock, or keeps trying to get it. */
  async hold(serverId: string): Promise<void> {
    this.#serverId = serverId;
    await this.#connect(serverId);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#client?.end().catch(() => {});
  }

  async #connect(serverId: string): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: ANSWER_WITHIN_MS,
      keepAlive: true,
      application_name: "muster liveness",
    });
    // Called whenever the connection ends; the next check opens another one.
    client.on("error", () => this.#lose(client));
    client.on("end", () => this.#lose(client));
    let holdsLock: boolean;
    try {
      await client.connect();
      holdsLock = await tryLock(client, serverId);
    } catch (error) {
      client.end().catch(() => {});
      throw error;
    }
    if (this.#isClosed) return void (await client.end().catch(() => {}));
    this.#client = client;
    this.#goOn(holdsLock);
  }

  #goOn(holdsLock: boolean): void {
    this.#holdsLock = holdsLock;
    this.#later(holdsLock ? ASK_EVERY_MS : RETRY_MS);
  }

  #lose(client: pg.Client): void {
    if (this.#client !== client || this.#isClosed) return;
    this.#client = undefined;
    this.#later(0);
  }

  #later(afterMs: number): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#look(), afterMs);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    const client = this.#client;
    try {
      if (this.#serverId === undefined) return;
      if (!client) await this.#connect(this.#serverId);
      else if (!this.#holdsLock) this.#goOn(await tryLock(client, this.#serverId));
      else {
        await client.query("select 1");
        this.#later(ASK_EVERY_MS);
      }
    } catch (error) {
      if (this.#isClosed) return;
      this.#log.debug({ err: error }, "lost the liveness lock of this server; taking it again");
      this.#client = undefined;
      client?.end().catch(() => {});
      this.#later(RETRY_MS);
    }
  }
}

/**
 * Returns false while another connection holds the lock: an earlier one of this server that was
 * lost silently and still shows that this server lives. Never waits for the lock, because a waiting
 * backend does not notice that its client has left, and would stay for as long as the lock is held.
 */
async function tryLock(client: pg.Client, serverId: string): Promise<boolean> {
  const { rows } = await client.query<{ held: boolean }>(
    "select pg_try_advisory_lock($1, $2) as held",
    [LIVENESS_CLASS, livenessKey(serverId)],
  );
  return rows[0]?.held === true;
}
