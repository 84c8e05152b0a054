import { useQueries, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import {
  type KeyboardEvent,
  type RefObject,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { usePendingApprovals } from "#features/approvals/ui/use-approvals.ts";
import type { Identity } from "#features/orchestrators/contract.ts";
import { UNTITLED } from "#features/sessions/ui/list/untitled.ts";
import { useOwnOpen } from "#features/sessions/ui/list/with-open.ts";
import type { Session } from "#protocol/sessions.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import type { Approval } from "#surfaces/web/kit/approval.ts";
import { useNow } from "#surfaces/web/kit/hooks/use-now.ts";
import {
  useMyOrchestrator,
  useOrchestratorSession,
} from "#surfaces/web/kit/hooks/use-orchestrator.ts";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";
import { currentActionWords } from "./current-action-words.ts";
import { TreeItem } from "./tree-item.tsx";
import { moveBy } from "./tree-keys.ts";
import { buildTree, missingAncestors, type TreeRow } from "./tree-rows.ts";
import { useChildren } from "./use-children.ts";
import { useFolded } from "./use-folded.ts";
import { useNodeActions } from "./use-node-actions.tsx";
import { useOpenChildren } from "./use-open-children.ts";

/** Limit of ancestors read one by one; others come with the next page of the list. */
const MAX_READ_ANCESTORS = 20;

/** Tree of one's orchestrator with its children, and of all other sessions with theirs. */
export function SessionTree({ sessions: listed }: { sessions: readonly Session[] }) {
  const orchestrator = useOrchestratorSession();
  const identity = useMyOrchestrator().data?.identity ?? null;
  const [folded, fold] = useFolded();
  const { sessionId: openId = orchestrator?.id } = useParams({ strict: false });
  const sessions = useWithOpen(listed, openId, orchestrator?.id);
  const parents = useMissingAncestors(sessions, orchestrator?.id);
  const rows = useMemo(
    () => buildTree({ sessions, orchestrator, parents, folded, openId }),
    [sessions, orchestrator, parents, folded, openId],
  );
  const children = useChildren(parentsOfShown(rows));
  const pending = usePendingBySession();
  const now = useNow(30_000);
  const { act, questions } = useNodeActions();
  const { tree, reachable, setFocused, onKeyDown } = useTreeKeys(rows, fold, openId);
  useScrolledTo(
    tree,
    openId,
    rows.findIndex(({ session }) => session.id === openId),
  );
  return (
    <>
      <div
        ref={tree}
        role="tree"
        aria-label="Session tree"
        onKeyDown={onKeyDown}
        onFocus={(event) => {
          const node = event.target.closest<HTMLElement>("[data-node]");
          if (node?.dataset.node) setFocused(node.dataset.node);
        }}
      >
        {rows.map((row) => {
          const { id, isOrchestrator } = row.session;
          const isMine = isOrchestrator && id === orchestrator?.id;
          return (
            <TreeItem
              key={id}
              {...row}
              name={nameOf(row.session, isMine ? identity : null)}
              avatar={isMine ? (identity?.avatar ?? null) : undefined}
              currentAction={currentActionWords(row.session, children.get(id), pending.get(id))}
              now={now}
              isReachable={id === reachable}
              onFold={fold}
              onAction={act}
            />
          );
        })}
      </div>
      {questions}
    </>
  );
}

/** Lists parents whose children are shown, including folded rows above the open session. */
function parentsOfShown(rows: readonly TreeRow[]): string[] {
  return rows
    .filter(({ level }, at) => (rows[at + 1]?.level ?? 0) > level)
    .map(({ session }) => session.id);
}

function nameOf(session: Session, identity: Identity | null): string {
  const fallback = session.isOrchestrator ? "Orchestrator" : UNTITLED;
  return revealLine(identity?.name ?? session.title ?? fallback);
}

/** First pending approval of each session, by session id. */
function usePendingBySession(): ReadonlyMap<string, Approval> {
  const items = usePendingApprovals().data?.items;
  return useMemo(() => new Map(items?.toReversed().map((item) => [item.sessionId, item])), [items]);
}

/**
 * Returns the listed sessions, preceded by those that the list may not have loaded yet: the open
 * session, its children, and the orchestrator's children.
 */
function useWithOpen(
  listed: readonly Session[],
  openId: string | undefined,
  orchestratorId: string | undefined,
): readonly Session[] {
  const mine = useOwnOpen(openId);
  const ofOpen = useOpenChildren(mine?.id);
  const ofOrchestrator = useOpenChildren(orchestratorId);
  return useMemo(
    () => [...(mine ? [mine] : []), ...ofOpen, ...ofOrchestrator, ...listed],
    [mine, ofOpen, ofOrchestrator, listed],
  );
}

function useMissingAncestors(sessions: readonly Session[], orchestratorId: string | undefined) {
  const queryClient = useQueryClient();
  const find = (id: string) =>
    queryClient.getQueryData<{ session: Session }>(keys.session(id))?.session;
  // Each answer renders this again, which then finds the next missing parent.
  const missing = missingAncestors(sessions, orchestratorId, find).slice(0, MAX_READ_ANCESTORS);
  return useQueries({
    queries: missing.map((id) => ({
      queryKey: keys.session(id),
      queryFn: ({ signal }: { signal: AbortSignal }) => api.sessions.get({ id }, { signal }),
    })),
    combine: combineSessions,
  });
}

function combineSessions(found: readonly { data?: { session: Session } | undefined }[]): Session[] {
  return found.flatMap(({ data }) => (data ? [data.session] : []));
}

/** Time during which the row is kept visible: each page of the list may push it away again. */
const SETTLES_MS = 5_000;

/** Scrolls the row of a newly opened session into view, unless the list is being used. */
function useScrolledTo(
  tree: RefObject<HTMLDivElement | null>,
  openId: string | undefined,
  place: number,
): void {
  const opened = useRef<{ id: string | undefined; at: number }>(undefined);
  useEffect(() => {
    if (opened.current?.id !== openId) opened.current = { id: openId, at: performance.now() };
    const isSettling = performance.now() - (opened.current?.at ?? 0) < SETTLES_MS;
    if (openId === undefined || place < 0 || !isSettling || tree.current?.matches(":hover")) return;
    const row = tree.current?.querySelector(`[data-node="${CSS.escape(openId)}"]`);
    row?.scrollIntoView({ block: "nearest" });
  }, [tree, openId, place]);
}

/** Arrows move and fold, Enter opens, Tab leads to the row's menu and out of the tree. */
function useTreeKeys(
  rows: readonly TreeRow[],
  fold: (id: string, isFolded: boolean) => void,
  open: string | undefined,
) {
  const tree = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState<string>();
  const ids = new Set(rows.map(({ session }) => session.id));
  const reachable = [focused, open, rows[0]?.session.id].find((id) => id && ids.has(id));
  const onKeyDown = useCallback(
    (event: KeyboardEvent<HTMLDivElement>) => {
      const node = event.target instanceof HTMLElement ? event.target.dataset.node : undefined;
      if (node === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
      const move = moveBy(event.key, rows, node);
      if (!move) return;
      event.preventDefault();
      if ("fold" in move) fold(move.fold, true);
      else if ("unfold" in move) fold(move.unfold, false);
      else
        tree.current?.querySelector<HTMLElement>(`[data-node="${CSS.escape(move.to)}"]`)?.focus();
    },
    [rows, fold],
  );
  return { tree, reachable, setFocused, onKeyDown };
}
