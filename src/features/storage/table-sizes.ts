/** Groups tables into kinds that people know, and extrapolates partly read sizes. Pure. */

/** A table or an index, as far as it was read. */
export interface Tree {
  name: string;
  table: string;
  isTable: boolean;
  bytes: number;
  cells: number;
  /** False: it has more pages than were read. */
  isWhole: boolean;
}

export interface TableSize {
  table: string;
  rows: number;
  bytes: number;
  isEstimate: boolean;
}

/** The first match counts. A table without a match is `other`. */
const KINDS: readonly [kind: string, tables: RegExp][] = [
  ["transcripts", /^(events|prompts|runs|threads|turn_changes|tool_results|gates)$/],
  ["sessions", /^(sessions|session_|workspace|worker_events|channel_bindings|tasks?$|task_)/],
  ["attachments and shown files", /^(blobs|blob_refs)$/],
  ["search", /^search_/],
  ["audit", /^audit_/],
  ["usage", /^(usage_|gateway_calls)/],
  ["messages", /^(messages|inboxes|notification_preferences|mail_contacts)$/],
  ["memory", /^memor/],
  ["personas", /^persona/],
  ["deliveries", /^(outbox|idempotency_keys|timers)$/],
];

export function kindOf(table: string): string {
  return KINDS.find(([, tables]) => tables.test(table))?.[0] ?? "other";
}

/**
 * Sums trees by table. A partly read tree counts with its table's number of cells, at the average size of
 * those seen; all such trees together get the space that no other tree uses.
 */
export function sizesOf(
  trees: readonly Tree[],
  rowsOf: ReadonlyMap<string, number>,
  usedBytes: number,
): TableSize[] {
  const reckoned = trees.map((tree) => {
    if (tree.isWhole) return { ...tree, guess: tree.bytes };
    const cells = Math.max(tree.cells, rowsOf.get(tree.table) ?? 0);
    return { ...tree, cells, guess: (tree.bytes / Math.max(1, tree.cells)) * cells };
  });
  const sum = (isWhole: boolean) =>
    reckoned.reduce((all, one) => all + (one.isWhole === isWhole ? one.guess : 0), 0);
  const scale = Math.max(0, usedBytes - sum(true)) / Math.max(1, sum(false));
  const tables = new Map<string, TableSize>();
  for (const { table, isTable, isWhole, cells, guess } of reckoned) {
    const known = tables.get(table) ?? { table, rows: 0, bytes: 0, isEstimate: false };
    known.bytes += Math.round(isWhole ? guess : guess * scale);
    if (isTable) known.rows = cells;
    if (!isWhole) known.isEstimate = true;
    tables.set(table, known);
  }
  return [...tables.values()];
}

export function byKind(tables: readonly TableSize[]) {
  const kinds = new Map<string, TableSize[]>();
  for (const size of tables) {
    const kind = kindOf(size.table);
    kinds.set(kind, [...(kinds.get(kind) ?? []), size]);
  }
  const total = (of: readonly TableSize[], pick: "rows" | "bytes") =>
    of.reduce((sum, size) => sum + size[pick], 0);
  return [...kinds]
    .map(([kind, of]) => ({
      kind,
      rows: total(of, "rows"),
      bytes: total(of, "bytes"),
      isEstimate: of.some(({ isEstimate }) => isEstimate),
      tables: of.toSorted((a, b) => b.bytes - a.bytes),
    }))
    .toSorted((a, b) => b.bytes - a.bytes);
}
