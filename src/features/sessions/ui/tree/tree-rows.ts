/**
 * Turns the session list into tree rows. The list is read page by page, newest first, so three things
 * may be missing and are read separately: the open session, its ancestors, and its children. Pure.
 */
import type { Session } from "#protocol/sessions.ts";

export interface TreeRow {
  session: Session;
  /** Depth, from 1. */
  level: number;
  /** Position among its siblings, from 1. */
  place: number;
  siblings: number;
  /** Number of children, shown or not. */
  children: number;
  isExpanded: boolean;
  /** Number of hidden descendants that wait for the person. */
  hiddenNeedsYou: number;
}

export interface TreeInput {
  sessions: readonly Session[];
  /** Always at the top, even when the list has not loaded it yet. */
  orchestrator: Session | null;
  /** Ancestors that the list has not loaded yet. */
  parents: readonly Session[];
  folded: ReadonlySet<string>;
  /** Open session: it and its ancestors are shown, folded or not. */
  openId?: string | undefined;
}

export function buildTree(input: TreeInput): TreeRow[] {
  const { sessions, orchestrator, parents, folded, openId } = input;
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
  addRows(rows, roots, 1, { byParent, folded, openPath: pathTo(openId, known) });
  return rows;
}

/** Returns the session and its ancestors. */
function pathTo(openId: string | undefined, known: ReadonlyMap<string, Session>): Set<string> {
  const path = new Set<string>();
  let session = openId === undefined ? undefined : known.get(openId);
  while (session && !path.has(session.id)) {
    path.add(session.id);
    session = known.get(session.parentSessionId ?? "");
  }
  return path;
}

/** Limit on the length of a chain of parents. */
const MAX_ANCESTORS = 20;

/**
 * Returns ids of ancestors that no page has brought. `find` returns a session that was read before; its
 * own parent is then looked for too. Ancestors of the first sessions come first.
 */
export function missingAncestors(
  sessions: readonly Session[],
  orchestratorId: string | undefined,
  find: (id: string) => Session | undefined,
): string[] {
  const listed = new Set(sessions.map(({ id }) => id));
  const missing = new Set<string>();
  for (const session of sessions) {
    let id = session.parentSessionId;
    for (let step = 0; step < MAX_ANCESTORS && id !== null; step++) {
      if (id === orchestratorId || listed.has(id) || missing.has(id)) break;
      missing.add(id);
      id = find(id)?.parentSessionId ?? null;
    }
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

interface Branches {
  byParent: ReadonlyMap<string | null, Session[]>;
  folded: ReadonlySet<string>;
  openPath: ReadonlySet<string>;
}

function addRows(
  rows: TreeRow[],
  siblings: readonly Session[],
  level: number,
  branches: Branches,
  isFolded = false,
): void {
  const { byParent, folded, openPath } = branches;
  for (const [index, session] of siblings.entries()) {
    if (isFolded && !openPath.has(session.id)) continue;
    // Children are sorted by creation: the first delegated comes first.
    const children = [...(byParent.get(session.id) ?? [])].sort((a, b) => newestFirst(b, a));
    const isExpanded = children.length > 0 && !folded.has(session.id);
    rows.push({
      session,
      level,
      place: index + 1,
      siblings: siblings.length,
      children: children.length,
      isExpanded,
      hiddenNeedsYou: isExpanded
        ? 0
        : children.filter(({ id, activity }) => activity === "needs_you" && !openPath.has(id))
            .length,
    });
    addRows(rows, children, level + 1, branches, !isExpanded);
  }
}
