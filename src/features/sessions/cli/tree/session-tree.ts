/** Sessions as a tree under their parents; pure. */
import type { Child } from "#features/delegation/contract.ts";
import type { Session } from "#protocol/sessions.ts";
import { shortId } from "#surfaces/cli/kit/find-session.ts";
import { activityWords } from "#surfaces/cli/kit/text/activity-words.ts";
import { formatCost, type Style, safeLine } from "#surfaces/cli/kit/text/terminal.ts";
import { shortenTo, widthOf } from "#surfaces/cli/kit/text/text-width.ts";

export interface TreeNode {
  id: string;
  title: string | null;
  lifecycle: Session["lifecycle"];
  activity: Session["activity"];
  /** Reason why it does not continue. */
  waitingFor: Session["waitingFor"];
  doing: string | null;
  branch: string | null;
  changedFiles: number | null;
  /** Cost of this session alone, in micro-units; null when a part of it is unknown. */
  cost: number | null;
  children: TreeNode[];
}

export interface TreeFacts {
  sessions: readonly Session[];
  /** Further facts about children, by session. */
  children: ReadonlyMap<string, Child>;
  /** Activity of roots, and pending approvals of any session; overrides a child's own activity. */
  doing: ReadonlyMap<string, string>;
}

/**
 * `rootId`: only this session and its descendants; otherwise your orchestrator and all sessions with
 * children.
 */
export function buildTrees(facts: TreeFacts, rootId?: string): TreeNode[] {
  const known = new Set(facts.sessions.map(({ id }) => id));
  const byParent = Map.groupBy(facts.sessions, ({ parentSessionId }) => parentSessionId);
  const node = (session: Session): TreeNode => ({
    ...nodeOf(session, facts),
    children: (byParent.get(session.id) ?? []).toSorted(byAge).map(node),
  });
  const isRoot = ({ id, parentSessionId }: Session) =>
    parentSessionId === null || !known.has(parentSessionId) || id === rootId;
  return facts.sessions
    .filter((session) => (rootId === undefined ? isRoot(session) : session.id === rootId))
    .toSorted(orchestratorsFirst)
    .map((session) => ({ session, tree: node(session) }))
    .filter(
      ({ session, tree }) =>
        rootId !== undefined || session.isOrchestrator || tree.children.length > 0,
    )
    .map(({ tree }) => tree);
}

function nodeOf(session: Session, { children, doing }: TreeFacts): Omit<TreeNode, "children"> {
  const child = children.get(session.id);
  return {
    id: session.id,
    title: session.title,
    lifecycle: session.lifecycle,
    activity: session.activity,
    waitingFor: session.waitingFor,
    doing: doing.get(session.id) ?? child?.doing ?? null,
    branch: session.branch,
    changedFiles: child?.changedFiles ?? null,
    cost: session.cost,
  };
}

function byAge(a: Session, b: Session): number {
  return a.createdAt.localeCompare(b.createdAt) || a.id.localeCompare(b.id);
}

function orchestratorsFirst(a: Session, b: Session): number {
  return Number(b.isOrchestrator) - Number(a.isOrchestrator) || byAge(a, b);
}

/** Null as soon as a part is unknown: the tree must not look cheaper than it is. */
export function treeCost({ cost, children }: TreeNode): number | null {
  let sum = cost;
  for (const child of children) {
    const more = treeCost(child);
    sum = sum === null || more === null ? null : sum + more;
  }
  return sum;
}

export interface TreeRow {
  node: TreeNode;
  /** Lines that lead to the node. */
  lead: string;
}

export function rowsOf(tree: TreeNode): TreeRow[] {
  return [{ node: tree, lead: "" }, ...rowsUnder(tree, "")];
}

function rowsUnder({ children }: TreeNode, lead: string): TreeRow[] {
  return children.flatMap((node, at) => {
    const isLast = at === children.length - 1;
    return [
      { node, lead: `${lead}${isLast ? "└ " : "├ "}` },
      ...rowsUnder(node, `${lead}${isLast ? "  " : "│ "}`),
    ];
  });
}

export interface DrawOptions {
  columns: number;
  style: Style;
  /** Short ids at the end of rows, for use in other commands. */
  hasIds?: boolean;
  /** Numbers for `/open`; the root has none. */
  isNumbered?: boolean;
}

const SIGNS: Record<string, string> = {
  working: "●",
  needs_you: "?",
  waiting: "◌",
  recovering: "↻",
  failed: "✗",
};

export function drawTree(tree: TreeNode, options: DrawOptions): string[] {
  const { columns, style, isNumbered, hasIds } = options;
  return rowsOf(tree).map(({ node, lead }, at) => {
    const number = isNumbered && at > 0 ? `${at} ` : "";
    const { activity: state } = node;
    const name = safeLine(node.title ?? node.id);
    const head = shortenTo(`${lead}${number}${SIGNS[state] ?? "·"} ${name}`, columns);
    const cost = formatCost(at === 0 ? treeCost(node) : node.cost);
    const id = hasIds ? idOf(node) : "";
    const tail = tailOf(node, cost, columns - widthOf(head) - widthOf(id));
    const isRoom = widthOf(head) + widthOf(tail) + widthOf(id) <= columns;
    const painted = state === "failed" || state === "needs_you" ? style.yellow(head) : head;
    return `${painted}${dimmed(style, `${tail}${isRoom ? id : ""}`)}`;
  });
}

function dimmed(style: Style, text: string): string {
  return text === "" ? "" : style.dim(text);
}

/** An orchestrator is known by that word and needs no id. */
function idOf({ id }: TreeNode): string {
  return id.includes(":") ? "" : `  ${shortId(id)}`;
}

function tailOf(node: TreeNode, cost: string, columns: number): string {
  const parts = [
    activityWords(node).replace("_", " "),
    cost,
    filesOf(node),
    safeLine(node.doing ?? ""),
  ];
  const words = parts.filter((part) => part !== "").join(" · ");
  const tail = shortenTo(words, columns - 2);
  return widthOf(tail) < 4 ? "" : `  ${tail}`;
}

function filesOf({ changedFiles, branch }: TreeNode): string {
  const files = changedFiles ? `${changedFiles} changed` : "";
  return [safeLine(branch ?? ""), files].filter((part) => part !== "").join(" ");
}
