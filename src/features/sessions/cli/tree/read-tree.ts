/** Reads a person's sessions and the activity of the children among them. */
import type { Child } from "#features/delegation/contract.ts";
import type { Api } from "#surfaces/cli/client/api.ts";
import { inputText } from "../turn/turn-printer.ts";
import { buildTrees, rowsOf, type TreeNode } from "./session-tree.ts";

export interface TreeQuery {
  rootId?: string | undefined;
  /** Includes archived and terminated sessions. */
  all: boolean;
}

export async function readTrees(api: Api, { rootId, all }: TreeQuery): Promise<TreeNode[]> {
  const query = all ? {} : { lifecycle: "active,hibernated" };
  const sessions = await api.listAll(api.sessions.list, { query });
  if (rootId !== undefined && !sessions.some(({ id }) => id === rootId)) {
    // The root may be archived, or another person's that was opened.
    sessions.push((await api.sessions.get({ id: rootId })).session);
  }
  const bare = buildTrees({ sessions, children: new Map(), doing: new Map() }, rootId);
  const nodes = bare.flatMap((tree) => rowsOf(tree).map(({ node }) => node));
  const [families, roots] = await Promise.all([
    Promise.all(
      nodes
        .filter(({ children }) => children.length > 0)
        .map(({ id }) => api.delegation.children({ id })),
    ),
    Promise.all(bare.map(async ({ id }) => [id, await currentActionOf(api, id)] as const)),
  ]);
  const children = new Map<string, Child>(
    families.flatMap(({ items }) => items.map((child) => [child.sessionId, child] as const)),
  );
  const pending = nodes.some(({ activity }) => activity === "needs_you")
    ? await describePendingApprovals(api)
    : [];
  return buildTrees({ sessions, children, doing: new Map([...roots, ...pending]) }, rootId);
}

/** Pending approval of each session. */
async function describePendingApprovals(api: Api): Promise<[id: string, words: string][]> {
  const { items } = await api.approvals.list({ query: { state: "pending" } });
  return items.map(({ sessionId, kind, tool, target }) => {
    const use = target ? `asks to use ${tool}: ${target}` : `asks to use ${tool}`;
    const words = { approval: use, question: "asks you a question", plan: "presents a plan" };
    return [sessionId, words[kind]];
  });
}

/** Last entry of a root, in a line; children report their own. */
async function currentActionOf(api: Api, id: string): Promise<string> {
  const { items } = await api.sessions.transcript({ id, query: { limit: 1 } });
  const [entry] = items;
  if (!entry) return "";
  if (entry.tool) return `${entry.tool.name} ${inputText(entry.tool.input)}`;
  return (entry.text ?? "").trim().split("\n", 1)[0] ?? "";
}
