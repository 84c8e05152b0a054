import { useNavigate, useSearch } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { type KeyboardEvent, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { useOpenSearch } from "#features/search/ui/use-open-search.ts";
import { SessionTree } from "#features/sessions/ui/tree/session-tree.tsx";
import type { Session } from "#protocol/sessions.ts";
import { messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { InlineError } from "#surfaces/web/kit/field.tsx";
import { useNow } from "#surfaces/web/kit/hooks/use-now.ts";
import { useShortcut } from "#surfaces/web/kit/hooks/use-shortcut.ts";
import { filterFor, type ListSearch, VIEWS, type View } from "./list-search.ts";
import { SessionItem } from "./session-item.tsx";
import { listedSessions } from "./session-list-cache.ts";
import { useSessionList } from "./use-session-lists.ts";
import { useOpenApart } from "./with-open.ts";

export function SessionList({ onCreate }: { onCreate: () => void }) {
  const search: ListSearch = useSearch({ strict: false });
  const list = useSessionList(filterFor(useDeferredValue(search)));
  const now = useNow(30_000);
  const view = search.view ?? "open";
  const sessions = useMemo(() => listedSessions(list.data), [list.data]);
  const isFiltered = search.q !== undefined || view !== "open";
  const apart = useOpenApart(sessions, isFiltered);
  const { fetchNextPage, hasNextPage, isFetchingNextPage } = list;
  const end = useReachedEnd(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  });
  return (
    <nav aria-label="Sessions" className="flex min-h-0 flex-1 flex-col">
      <ListFilter search={search} />
      <div className="min-h-0 flex-1 overflow-y-auto px-2 pb-3">
        {list.isError && (
          <div className="space-y-2 p-2">
            <InlineError>{messageOf(list.error)}</InlineError>
            <Button size="small" onClick={() => void list.refetch()}>
              Try again
            </Button>
          </div>
        )}
        {list.isPending && <Skeleton />}
        {isFiltered ? (
          <ul onKeyDown={moveFocus}>
            {apart && <SessionItem session={apart} now={now} isApart />}
            {sessions.map((session) => (
              <SessionItem key={session.id} session={session} now={now} />
            ))}
          </ul>
        ) : (
          <SessionTree sessions={sessions} />
        )}
        {isFiltered && list.isSuccess && sessions.length === 0 && !hasNextPage && (
          <p className="px-3 py-8 text-center text-ink-faint">No matching sessions.</p>
        )}
        {!isFiltered && list.isSuccess && !hasNextPage && sessions.every(isOrchestrator) && (
          <NoSessions onCreate={onCreate} />
        )}
        <div ref={end} className="h-6 text-center text-xs text-ink-faint">
          {isFetchingNextPage && "Loading…"}
        </div>
      </div>
    </nav>
  );
}

function ListFilter({ search }: { search: ListSearch }) {
  const navigate = useNavigate();
  const box = useRef<HTMLInputElement>(null);
  const [words, setWords] = useState(search.q ?? "");
  useShortcut("/", () => box.current?.focus());
  const go = (change: ListSearch) => {
    const next = { ...search, ...change };
    const view = next.view === "open" ? undefined : next.view;
    const kept = { view, q: next.q || undefined };
    void navigate({
      to: ".",
      search: (before: object) => ({ ...before, ...kept }) as never,
      replace: true,
    });
  };
  const openSearch = useOpenSearch();
  const searchAll = () => {
    setWords("");
    openSearch(words.trim());
  };
  return (
    <search className="flex flex-wrap gap-2 px-3 pb-2">
      <div className="relative min-w-0 flex-1">
        <Search
          size={14}
          aria-hidden
          className="absolute top-1/2 left-2.5 -translate-y-1/2 text-ink-faint"
        />
        <input
          ref={box}
          type="search"
          aria-label="Search sessions"
          placeholder="Search"
          value={words}
          onChange={(event) => {
            setWords(event.target.value);
            go({ q: event.target.value });
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter" && words.trim() !== "") searchAll();
          }}
          className="h-8 w-full rounded-lg border border-line bg-raised pr-2 pl-8 text-sm outline-none focus:border-accent focus:ring-2 focus:ring-accent/25 max-md:h-10 max-md:text-base"
        />
      </div>
      <select
        aria-label="Show"
        value={search.view ?? "open"}
        onChange={(event) => go({ view: event.target.value as View })}
        className="h-8 rounded-lg border border-line bg-raised px-1.5 text-xs text-ink-soft max-md:h-10 max-md:text-base"
      >
        {Object.entries(VIEWS).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      {words.trim() !== "" && (
        <button
          type="button"
          onClick={searchAll}
          className="flex w-full min-w-0 items-baseline gap-1 rounded-lg px-1 py-0.5 text-left text-xs text-accent hover:bg-hover max-md:py-2"
        >
          <span className="min-w-0 truncate">Search everything for “{words.trim()}”</span>
          <kbd className="ml-auto shrink-0 font-sans text-2xs text-ink-faint">Enter</kbd>
        </button>
      )}
    </search>
  );
}

function isOrchestrator(session: Session): boolean {
  return session.isOrchestrator;
}

function NoSessions({ onCreate }: { onCreate: () => void }) {
  return (
    <p className="px-4 py-6 text-center text-xs text-ink-faint">
      Sessions that your orchestrator starts appear here. You can also{" "}
      <button type="button" onClick={onCreate} className="text-accent underline underline-offset-2">
        start a session yourself
      </button>
      .
    </p>
  );
}

function Skeleton() {
  return (
    <div role="status" aria-label="Loading sessions" className="space-y-2 p-2">
      {[70, 50, 85, 60].map((width) => (
        <div key={width} className="animate-breathe space-y-2 py-2">
          <div className="h-3 rounded bg-hover" style={{ width: `${width}%` }} />
          <div className="h-2 w-1/3 rounded bg-hover" />
        </div>
      ))}
    </div>
  );
}

/** Moves through the list by arrow keys. */
function moveFocus(event: KeyboardEvent<HTMLUListElement>): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step === 0) return;
  const links = [...event.currentTarget.querySelectorAll("a")];
  const next = links[links.indexOf(document.activeElement as HTMLAnchorElement) + step];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}

function useReachedEnd(onReached: () => void) {
  const mark = useRef<HTMLDivElement>(null);
  const isEndVisible = useRef(false);
  const latest = useRef(onReached);
  useEffect(() => {
    latest.current = onReached;
    // New rows may be folded: then the end is still visible, and no scrolling asks for the next page.
    if (isEndVisible.current) onReached();
  });
  useEffect(() => {
    if (mark.current === null) return;
    // An end that only touches the edge does not count: a row that was scrolled to may lie there.
    const observer = new IntersectionObserver(
      (seen) => {
        isEndVisible.current = (seen.at(-1)?.intersectionRatio ?? 0) > 0;
        if (isEndVisible.current) latest.current();
      },
      { threshold: [0, 0.1] },
    );
    observer.observe(mark.current);
    return () => observer.disconnect();
  }, []);
  return mark;
}
