import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { ChevronRight } from "lucide-react";
import { type MouseEvent, memo } from "react";
import { LocationLine } from "#features/sessions/ui/list/location-line.tsx";
import { locationOf } from "#features/sessions/ui/list/session-location.ts";
import type { Session } from "#protocol/sessions.ts";
import { ActivityDot } from "#surfaces/web/kit/activity-mark.tsx";
import { Avatar } from "#surfaces/web/kit/avatar.tsx";
import { COST_UNKNOWN, moneyWords, plural } from "#surfaces/web/kit/text/money-words.ts";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";
import { ago, fullTime } from "#surfaces/web/kit/text/time-words.ts";
import { listedState } from "./children-words.ts";
import type { NodeAction } from "./node-actions.ts";
import { NodeMenu } from "./node-menu.tsx";
import type { TreeRow } from "./tree-rows.ts";

export interface TreeItemProps extends TreeRow {
  name: string;
  /** Set for an orchestrator only. */
  avatar?: string | null | undefined;
  /** Activity in one line, if known. */
  currentAction: string | null;
  now: number;
  /** True for the one row of the tree in the Tab order. */
  isReachable: boolean;
  onFold: (id: string, isFolded: boolean) => void;
  onAction: (action: NodeAction, session: Session) => void;
}

const INDENT_REM = 1;

/** Shows one session: its state, name, activity and cost. */
export const TreeItem = memo(function TreeItem(props: TreeItemProps) {
  const { session, name, level, place, siblings, children, isExpanded, isReachable } = props;
  const target = session.isOrchestrator
    ? ({ to: "/" } as const)
    : ({ to: "/sessions/$sessionId", params: { sessionId: session.id } } as const);
  const toggle = (event: MouseEvent) => {
    event.preventDefault();
    event.stopPropagation();
    props.onFold(session.id, isExpanded);
  };
  return (
    <div
      role="none"
      className="group relative [contain-intrinsic-size:auto_3.25rem] [content-visibility:auto]"
    >
      <Link
        {...target}
        search={true}
        activeOptions={{ exact: true, includeSearch: false }}
        role="treeitem"
        data-node={session.id}
        aria-level={level}
        aria-posinset={place}
        aria-setsize={siblings}
        aria-expanded={children > 0 ? isExpanded : undefined}
        tabIndex={isReachable ? 0 : -1}
        style={{ paddingLeft: `${0.125 + (level - 1) * INDENT_REM}rem` }}
        className="flex gap-1.5 rounded-lg py-2 pr-2.5 -outline-offset-2 group-focus-within:pr-9 group-hover:pr-9 max-md:pr-11 hover:bg-hover data-[status=active]:bg-hover"
      >
        <span className="flex w-5 shrink-0 justify-center">
          {children > 0 && (
            // Pointer only; the arrow keys do the same.
            <span
              aria-hidden
              onClick={toggle}
              className="grid size-5 place-items-center rounded text-ink-faint hover:bg-line hover:text-ink"
            >
              <ChevronRight size={14} className={isExpanded ? "rotate-90" : undefined} />
            </span>
          )}
        </span>
        <Face {...props} />
        <span className="min-w-0 flex-1">
          <span className="flex items-baseline gap-2">
            <span className="min-w-0 flex-1 truncate font-medium">{name}</span>
            <Mark {...props} />
          </span>
          <span className="mt-0.5 flex gap-2 text-xs text-ink-faint">
            <ActivityText {...props} />
            <LocationLine location={locationOf(session)} className="max-w-[45%] shrink-0" />
            <Cost session={session} />
          </span>
        </span>
      </Link>
      <div className="absolute top-1.5 right-1 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 has-[[data-state=open]]:opacity-100 max-md:opacity-100">
        <NodeMenu
          session={session}
          name={name}
          isReachable={isReachable}
          onAction={props.onAction}
        />
      </div>
    </div>
  );
});

function Face({ session, name, avatar }: TreeItemProps) {
  if (avatar === undefined) return <ActivityDot activity={session.activity} className="mt-1.5" />;
  return (
    <span className="relative mr-1 self-center">
      <Avatar name={name} avatar={avatar} className="size-7 text-sm" />
      <span className="absolute -right-0.5 -bottom-0.5 grid rounded-full bg-panel p-[2px]">
        <ActivityDot activity={session.activity} />
      </span>
    </span>
  );
}

function Mark({ session, hiddenNeedsYou, now }: TreeItemProps) {
  const isAsking = session.activity === "needs_you";
  if (isAsking || hiddenNeedsYou > 0) {
    return (
      <span
        className="shrink-0 rounded-full bg-warn-soft px-1.5 text-2xs font-medium text-warn"
        data-testid="needs-you-mark"
      >
        {isAsking ? "Needs you" : `${plural(hiddenNeedsYou, "child", "children")} waiting`}
      </span>
    );
  }
  return (
    <time
      dateTime={session.updatedAt}
      title={fullTime(session.updatedAt)}
      className="shrink-0 text-2xs text-ink-faint tabular-nums"
    >
      {ago(session.updatedAt, now)}
    </time>
  );
}

/** Always includes the state in words, for people who cannot see the dot's colour. */
function ActivityText({ session, currentAction }: TreeItemProps) {
  const { activity, lifecycle, counts } = session;
  const word = lifecycle === "archived" ? "Archived" : listedState(session);
  const line = currentAction === null || currentAction === "" ? null : revealLine(currentAction);
  return (
    <span className="min-w-0 flex-1 truncate" title={line ?? undefined}>
      <span className={clsx(activity === "failed" && "text-bad", line !== null && "sr-only")}>
        {word}
      </span>
      {line !== null && <span className="before:sr-only before:content-[':_']">{line}</span>}
      {line === null && counts.queued > 0 && ` · ${counts.queued} queued`}
    </span>
  );
}

function Cost({ session: { cost, counts } }: { session: Session }) {
  if (counts.prompts === 0) return null;
  return (
    <span className="shrink-0 tabular-nums" title={cost === null ? COST_UNKNOWN : "Cost so far"}>
      {cost === null ? "$?" : moneyWords(cost)}
    </span>
  );
}
