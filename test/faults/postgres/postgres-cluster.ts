/** The PostgreSQL of a run: one cluster that may be killed, with a database for each round. */
import { randomBytes } from "node:crypto";
import { Client } from "pg";
import type { Cleanup } from "#test/services/servers/cleanup.ts";
import { PostgresServer } from "#test/services/servers/postgres-server.ts";
import { Unavailable } from "#test/services/servers/unavailable.ts";
import { RoundUnavailable } from "../round.ts";

const clusters = new WeakMap<Cleanup, Promise<PostgresServer>>();

/** Throws `RoundUnavailable` where there is no PostgreSQL. Rounds that share it must not run at the same time. */
export async function createDatabase(
  cleanup: Cleanup,
): Promise<{ server: PostgresServer; url: string }> {
  const cluster = clusters.get(cleanup) ?? PostgresServer.create(cleanup);
  clusters.set(cleanup, cluster);
  const server = await cluster.catch((error: unknown) => {
    throw error instanceof Unavailable ? new RoundUnavailable(error.message) : error;
  });
  const name = `faults_${randomBytes(4).toString("hex")}`;
  const client = new Client({ connectionString: server.url });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  return { server, url: url.href };
}
