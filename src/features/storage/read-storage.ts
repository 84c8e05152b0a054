/** Reports sizes and due rows. The report is read apart from all other work, and cached for a moment. */

import { Refusal } from "#base/refusal.ts";
import { type Reader, ReadTooSlow } from "#base/store/index.ts";
import {
  type Engine,
  type RetentionRule,
  readRetention,
  retentionCutoff,
  retentionDays,
} from "#engine/index.ts";
import type { Retention, Storage } from "./contract.ts";
import { type DatabaseSize, type LongLog, listLongLogs, readSizes } from "./queries.ts";
import { byKind } from "./table-sizes.ts";

const LIMIT_MS = 20_000;
/** Time for which repeated requests get the cached report. */
const KEPT_MS = 30_000;
const MAX_COUNTED = 10_000;
const LARGEST = 10;
const WEEK_MS = 7 * 24 * 60 * 60_000;

interface CachedSizes {
  at: number;
  orgId: string;
  sizes: Promise<{ sizes: DatabaseSize; logs: LongLog[] }>;
}

interface Counted {
  at: number;
  settings: string;
  items: Promise<Retention[]>;
}

export function createStorageReads(rules: readonly RetentionRule[]) {
  let kept: CachedSizes | undefined;
  let counted: Counted | undefined;

  function measure(engine: Engine, orgId: string): CachedSizes {
    const now = engine.clock.now();
    if (kept && kept.orgId === orgId && now - kept.at < KEPT_MS) return kept;
    const sizes = readAside(engine, async (reader) => ({
      sizes: await readSizes(reader),
      logs: await listLongLogs(reader, orgId, LARGEST),
    }));
    const measured = { at: now, orgId, sizes };
    kept = measured;
    sizes.catch(() => {
      if (kept === measured) kept = undefined;
    });
    return measured;
  }

  /** Settings are always current; due rows are counted again when the settings have changed. */
  async function retention(engine: Engine): Promise<Retention[]> {
    const { days: set } = await readRetention(engine);
    const now = engine.clock.now();
    const settings = JSON.stringify([...set].toSorted());
    if (counted && counted.settings === settings && now - counted.at < KEPT_MS)
      return counted.items;
    const items = readAside(engine, async (reader) => {
      const all: Retention[] = [];
      for (const rule of rules) all.push(await retentionOf(reader, rule, set, now));
      return all;
    });
    const mine = { at: now, settings, items };
    counted = mine;
    items.catch(() => {
      if (counted === mine) counted = undefined;
    });
    return items;
  }

  return {
    retention,
    async storage(engine: Engine, orgId: string): Promise<Storage> {
      const measured = measure(engine, orgId);
      const { sizes, logs } = await measured.sizes;
      const events = sizes.tables.find(({ table }) => table === "events");
      const each = (events?.bytes ?? 0) / Math.max(1, events?.rows ?? 0);
      return {
        at: new Date(measured.at).toISOString(),
        database: {
          kind: engine.store.dialect,
          bytes: sizes.bytes,
          freeBytes: sizes.freeBytes,
        },
        kinds: byKind(sizes.tables),
        largestSessions: logs.map(({ id, owner_id, lifecycle, last_seq }) => ({
          sessionId: id,
          ownerId: owner_id,
          lifecycle,
          events: last_seq,
          bytes: Math.round(each * last_seq),
        })),
        retention: await retention(engine),
        heldUntil: await heldUntil(engine),
      };
    },
  };
}

async function retentionOf(
  reader: Reader,
  rule: RetentionRule,
  set: ReadonlyMap<string, number | null>,
  now: number,
): Promise<Retention> {
  const before = retentionCutoff(rule, set, now);
  const count = async (at: number | null) =>
    at === null ? 0 : rule.countDue(reader, at, MAX_COUNTED);
  const due = await count(before);
  return {
    kind: rule.kind,
    summary: rule.summary,
    days: retentionDays(rule, set),
    defaultDays: rule.defaultDays,
    minDays: rule.minDays,
    isSet: set.has(rule.kind),
    due,
    dueInWeek: await count(before === null ? null : before + WEEK_MS),
    whyKept: before === null || due === 0 ? null : ((await rule.whyKept?.(reader, before)) ?? null),
    before: before === null ? null : new Date(before).toISOString(),
  };
}

async function readAside<T>({ store }: Engine, work: (reader: Reader) => Promise<T>): Promise<T> {
  try {
    return await store.readAside(LIMIT_MS, work);
  } catch (error) {
    if (!(error instanceof ReadTooSlow)) throw error;
    throw new Refusal(
      "unavailable",
      "storage_too_slow",
      "The database is too busy to measure its size. Try again in a minute.",
      { cause: error, retryAfterMs: 60_000 },
    );
  }
}

async function heldUntil(engine: Engine): Promise<string | null> {
  const { heldUntil: until } = await readRetention(engine);
  return until > engine.clock.now() ? new Date(until).toISOString() : null;
}
