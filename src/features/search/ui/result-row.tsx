import { useRouter } from "@tanstack/react-router";
import {
  BookOpenText,
  Brain,
  GitBranch,
  ListTodo,
  type LucideIcon,
  Mail,
  MessagesSquare,
  UserRoundCog,
} from "lucide-react";
import { type MouseEvent, memo } from "react";
import type { SearchItem, SearchKind } from "#features/search/contract.ts";
import { ago, fullTime } from "#surfaces/web/kit/text/time-words.ts";
import { Highlight } from "./highlight.tsx";
import { ownPath } from "./page-search.ts";

const ICONS: Record<SearchKind, LucideIcon> = {
  session: MessagesSquare,
  transcript: BookOpenText,
  task: ListTodo,
  message: Mail,
  memory: Brain,
  persona: UserRoundCog,
  repo: GitBranch,
};

/** Singular names. */
const NAMES: Record<SearchKind, string> = {
  session: "Session",
  transcript: "Transcript",
  task: "Task",
  message: "Message",
  memory: "Memory",
  persona: "Persona",
  repo: "Repository",
};

export const ResultRow = memo(function ResultRow({ item, now }: { item: SearchItem; now: number }) {
  const { kind, title, titleMatches, snippet, matches, at, url } = item;
  const router = useRouter();
  const path = ownPath(url);
  const Icon = ICONS[kind];
  const go = (event: MouseEvent) => {
    // The browser handles clicks that open a new tab.
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    if (path !== undefined) router.history.push(path);
  };
  return (
    <li className="[contain-intrinsic-size:auto_4rem] [content-visibility:auto]">
      <a
        href={path}
        onClick={go}
        data-result
        className="flex gap-3 rounded-xl px-3 py-2.5 -outline-offset-2 hover:bg-hover focus-visible:bg-hover"
      >
        <Icon size={17} aria-hidden className="mt-0.5 shrink-0 text-ink-faint" />
        <span className="min-w-0 flex-1">
          <span className="flex items-baseline gap-2">
            <span className="min-w-0 flex-1 truncate font-medium">
              <Highlight text={title} matches={titleMatches} />
            </span>
            <span className="shrink-0 text-2xs text-ink-faint">
              {NAMES[kind]}
              {" · "}
              <time dateTime={at} title={fullTime(at)} className="tabular-nums">
                {ago(at, now)}
              </time>
            </span>
          </span>
          {snippet !== "" && (
            <span className="mt-0.5 line-clamp-2 text-xs [overflow-wrap:anywhere] text-ink-soft">
              <Highlight text={snippet} matches={matches} />
            </span>
          )}
        </span>
      </a>
    </li>
  );
});
