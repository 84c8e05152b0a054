/**
 * The list of sessions as a tree, line by line. The server lists the newest first, and no child is
 * older than its parent: whoever is listed has all its children listed. Pure.
 */
import type { Session } from "#protocol/sessions.ts";

export interface TreeRow {
  session: Session;
  /** From 1. */
  level: number;
  /** Its place among those of its level under one parent, from 1. */
  place: number;
  siblings: number;
  /** How many children are under it, shown or not. */
  children: number;
  isExpanded: boolean;
  /** Of those that are not shown. */
  hiddenNeedsYou: number;
}

export interface TreeInput {
  sessions: readonly Session[];
  /** Stands at the top, also when the list has not come so far. */
  orchestrator: Session | null;
  /** Parents that the list has not come to. */
  parents: readonly Session[];
  folded: ReadonlySet<string>;
}

export function buildTree({ sessions, orchestrator, parents, folded }: TreeInput): TreeRow[] {
  const known = new Map<string, Session>();
  for (const session of [...sessions, ...parents]) known.set(session.id, session);
  if (orchestrator) known.set(orchestrator.id, orchestrator);
  const byParent = new Map<string | null, Session[]>();
  for (const session of known.values()) {
    const parent = hasPlace(session, known) ? session.parentSessionId : null;
    const siblings = byParent.get(parent);
    if (siblings) siblings.push(session);
    else byParent.set(parent, [session]);
  }
  const rows: TreeRow[] = [];
  const roots = orchestratorFirst(byParent.get(null) ?? [], orchestrator);
  addRows(rows, roots, 1, byParent, folded);
  return rows;
}

/** Parents that have to be asked for one by one, so that their children stand under them. */
export function missingParents(
  sessions: readonly Session[],
  orchestratorId: string | undefined,
): string[] {
  const listed = new Set(sessions.map(({ id }) => id));
  const missing = new Set<string>();
  for (const { parentSessionId: id } of sessions) {
    if (id !== null && id !== orchestratorId && !listed.has(id)) missing.add(id);
  }
  return [...missing];
}

function hasPlace(session: Session, known: ReadonlyMap<string, Session>): boolean {
  const { id, parentSessionId } = session;
  return parentSessionId !== null && parentSessionId !== id && known.has(parentSessionId);
}

function orchestratorFirst(roots: readonly Session[], orchestrator: Session | null): Session[] {
  const others = roots.filter(({ id }) => id !== orchestrator?.id);
  return orchestrator ? [orchestrator, ...others.sort(newestFirst)] : others.sort(newestFirst);
}

function newestFirst(a: Session, b: Session): number {
  return b.createdAt.localeCompare(a.createdAt) || b.id.localeCompare(a.id);
}

function addRows(
  rows: TreeRow[],
  sessions: readonly Session[],
  level: number,
  byParent: ReadonlyMap<string | null, Session[]>,
  folded: ReadonlySet<string>,
): void {
  for (const [index, session] of sessions.entries()) {
    // In the order in which they were begun: what was delegated first stands first.
    const children = [...(byParent.get(session.id) ?? [])].sort((a, b) => newestFirst(b, a));
    const isExpanded = children.length > 0 && !folded.has(session.id);
    rows.push({
      session,
      level,
      place: index + 1,
      siblings: sessions.length,
      children: children.length,
      isExpanded,
      hiddenNeedsYou: isExpanded
        ? 0
        : children.filter(({ activity }) => activity === "needs_you").length,
    });
    if (isExpanded) addRows(rows, children, level + 1, byParent, folded);
  }
}
