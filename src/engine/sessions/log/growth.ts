/**
 * Finds what other servers wrote to sessions that are followed here. The bus, where there is one,
 * reports it sooner; this makes good what the bus lost. With SQLite there is no other server.
 */
import type { Engine } from "#engine/work.ts";
import { listLastSeqs } from "../queries.ts";

const BATCH = 1_000;

export async function announceGrowth({ store, announcer }: Engine): Promise<void> {
  if (store.dialect === "sqlite") return;
  const watched = announcer.watched();
  for (let at = 0; at < watched.length; at += BATCH) {
    const ids = watched.slice(at, at + BATCH);
    const rows = await store.read((reader) => listLastSeqs(reader, ids));
    for (const { id, last_seq } of rows) announcer.grown(id, last_seq);
  }
}
