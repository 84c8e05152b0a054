/**
 * Folds undelivered events when an inbox is full: the oldest become one event that names all of
 * them.
 */
import type { Work } from "#engine/index.ts";
import type { WorkerEventPayload } from "../contract.ts";
import type { WorkerEventRow } from "../schema.ts";
import { deleteEvents, savePayload } from "./inbox-queries.ts";
import { inQuotes } from "./words.ts";

export interface FoldedEvent {
  workerId: string;
  workerName: string;
  type: string;
  count: number;
}

/** Keeps the first row, which then stands for all. */
export async function foldEvents(work: Work, folded: readonly WorkerEventRow[]): Promise<void> {
  const [first, ...others] = folded;
  if (!first || others.length === 0) return;
  await savePayload(work.tx, first.id, JSON.stringify(foldedPayload(folded)));
  await deleteEvents(
    work.tx,
    others.map(({ id }) => id),
  );
}

export function foldedPayload(rows: readonly WorkerEventRow[]): WorkerEventPayload {
  const workers = mergeFolded(rows.flatMap(foldedOf));
  const count = workers.reduce((sum, worker) => sum + worker.count, 0);
  const lines = workers.map(
    (one) => `${one.type} × ${one.count}: ${inQuotes(one.workerName)} (${one.workerId})`,
  );
  return {
    count,
    workers,
    text: lines.join("\n"),
  };
}

/** Children and event types that a row stands for. */
export function foldedOf({ payload, child_id, child_name, type }: WorkerEventRow): FoldedEvent[] {
  const { workers } = JSON.parse(payload) as WorkerEventPayload;
  return workers ?? [{ workerId: child_id, workerName: child_name, type, count: 1 }];
}

function mergeFolded(all: readonly FoldedEvent[]): FoldedEvent[] {
  const byKey = new Map<string, FoldedEvent>();
  for (const one of all) {
    const key = `${one.workerId} ${one.type}`;
    const known = byKey.get(key);
    byKey.set(key, { ...one, count: one.count + (known?.count ?? 0) });
  }
  return [...byKey.values()];
}
