import { useLocation, useNavigate, useSearch } from "@tanstack/react-router";
import { clsx } from "clsx";
import { Search } from "lucide-react";
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import type { SearchKind } from "#features/search/contract.ts";
import { messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { InlineError } from "#surfaces/web/kit/field.tsx";
import { useDocumentTitle } from "#surfaces/web/kit/hooks/use-document-title.ts";
import { useNow } from "#surfaces/web/kit/hooks/use-now.ts";
import { DrawerButton } from "#surfaces/web/kit/side-drawer.tsx";
import { KINDS, kindsIn, readWantedSearch, toggleKind, type WantedSearch } from "./page-search.ts";
import { ResultRow } from "./result-row.tsx";
import { useSearchResults, useSettled } from "./use-search-results.ts";

/** Longest query that the server reads to its end. */
const MAX_QUERY_CHARS = 1_000;

/** Search over everything that the person may see. */
export function SearchPage() {
  useDocumentTitle("Search");
  const search: WantedSearch = useSearch({ strict: false });
  const navigate = useNavigate();
  const [typed, setTyped] = useTyped();
  const words = useSettled(typed.trim());
  const [isFirstWanted, setIsFirstWanted] = useState(false);
  const kinds = useMemo(() => kindsIn(search.kinds), [search.kinds]);
  const go = (change: { [K in keyof WantedSearch]: WantedSearch[K] | undefined }) =>
    void navigate({
      to: "/search",
      search: (before: object) => ({ ...before, ...change }) as never,
      state: true,
      replace: true,
    });
  const latest = useRef(go);
  const shownInAddress = useRef(words);
  useEffect(() => {
    latest.current = go;
  });
  useEffect(() => {
    if (shownInAddress.current === words) return;
    shownInAddress.current = words;
    latest.current({ for: words === "" ? undefined : words });
  }, [words]);
  return (
    <div className="flex h-full flex-col">
      <header className="shrink-0 border-b border-line">
        <h1 className="sr-only">Search</h1>
        <search className="mx-auto max-w-4xl space-y-2 px-2 py-2.5 md:px-6">
          <div className="flex items-center gap-1">
            <DrawerButton />
            <div className="relative min-w-0 flex-1">
              <Search
                size={16}
                aria-hidden
                className="absolute top-1/2 left-3 -translate-y-1/2 text-ink-faint"
              />
              <input
                type="search"
                // biome-ignore lint/a11y/noAutofocus: people open this page to type
                autoFocus
                data-search-box
                aria-label="Search everything"
                placeholder="Sessions, tasks, messages, memories…"
                maxLength={MAX_QUERY_CHARS}
                value={typed}
                onChange={(event) => {
                  setTyped(event.target.value);
                  setIsFirstWanted(false);
                }}
                onKeyDown={(event) => {
                  if (event.key === "Enter" && !event.nativeEvent.isComposing)
                    setIsFirstWanted(true);
                  else onFieldKey(event, () => setTyped(""));
                }}
                className="h-10 w-full rounded-xl border border-line-strong bg-raised pr-3 pl-9 text-base outline-none focus:border-accent focus:ring-2 focus:ring-accent/25"
              />
            </div>
          </div>
          <KindFilter
            kinds={kinds}
            onChange={(next) => go({ kinds: next.length === 0 ? undefined : next.join(",") })}
          />
        </search>
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto max-w-4xl px-1 py-3 md:px-4">
          <Results
            words={words}
            kinds={kinds}
            isTyping={typed.trim() !== words}
            isFirstWanted={isFirstWanted}
            onOpened={() => setIsFirstWanted(false)}
          />
        </div>
      </div>
    </div>
  );
}

/** Text of the search box: typed here, or set from elsewhere while this page is open. */
function useTyped() {
  // The location changes before this page is unmounted: the next page's state is not for this box.
  const { openedSearchId, wanted } = useLocation({
    select: ({ pathname, state, search }) =>
      pathname === "/search"
        ? { openedSearchId: state.searchId, wanted: readWantedSearch(search).for ?? "" }
        : { openedSearchId: undefined, wanted: "" },
    structuralSharing: true,
  });
  const [typed, setTyped] = useState(wanted);
  const [seen, setSeen] = useState(openedSearchId);
  if (openedSearchId !== undefined && openedSearchId !== seen) {
    setSeen(openedSearchId);
    setTyped(wanted);
  }
  return [typed, setTyped] as const;
}

interface KindFilterProps {
  kinds: readonly SearchKind[];
  onChange: (kinds: SearchKind[]) => void;
}

function KindFilter({ kinds, onChange }: KindFilterProps) {
  return (
    <fieldset className="flex min-w-0 gap-1.5 overflow-x-auto pb-0.5 md:flex-wrap">
      <legend className="sr-only">Filter by type</legend>
      {(Object.keys(KINDS) as SearchKind[]).map((kind) => (
        <button
          key={kind}
          type="button"
          aria-pressed={kinds.includes(kind)}
          onClick={() => onChange(toggleKind(kinds, kind))}
          className="shrink-0 rounded-full border border-line bg-raised px-2.5 py-1 text-xs text-ink-soft hover:border-line-strong hover:text-ink aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent max-md:py-1.5"
        >
          {KINDS[kind]}
        </button>
      ))}
    </fieldset>
  );
}

interface ResultsProps {
  words: string;
  kinds: readonly SearchKind[];
  isTyping: boolean;
  /** True if the first result opens as soon as it answers the typed query. */
  isFirstWanted: boolean;
  onOpened: () => void;
}

function Results({ words, kinds, isTyping, isFirstWanted, onOpened }: ResultsProps) {
  const now = useNow(60_000);
  const found = useSearchResults({ words, kinds });
  const items = found.data?.pages.flatMap((page) => page.items) ?? [];
  const isOld = found.isPlaceholderData || isTyping;
  const isOpening = isFirstWanted && words !== "" && found.isSuccess && !isOld;
  useEffect(() => {
    if (!isOpening) return;
    onOpened();
    results()[0]?.click();
  });
  if (words === "")
    return (
      <p className="mx-auto max-w-md px-3 py-12 text-center text-ink-faint">
        Search sessions, transcripts, tasks, messages, memories, personas and repositories. Use
        "quotes" for an exact phrase.
      </p>
    );
  if (found.isError && !isTyping)
    return (
      <div className="space-y-2 px-3">
        <InlineError>{messageOf(found.error)}</InlineError>
        <Button size="small" onClick={() => void found.refetch()}>
          Try again
        </Button>
      </div>
    );
  return (
    <>
      <p
        role="status"
        className={clsx("px-3 pb-1 text-xs text-ink-faint", items.length > 0 && "sr-only")}
      >
        {statusWords(items.length, found.isFetching || isOld, found.hasNextPage, kinds.length > 0)}
      </p>
      <ol aria-label="Results" onKeyDown={walk} className={clsx(isOld && "opacity-60")}>
        {items.map((item) => (
          <ResultRow key={`${item.kind}:${item.id}`} item={item} now={now} />
        ))}
      </ol>
      {found.hasNextPage && !isOld && (
        <div className="py-3 text-center">
          <Button
            size="small"
            disabled={found.isFetchingNextPage}
            onClick={() => void found.fetchNextPage()}
          >
            {found.isFetchingNextPage ? "Loading…" : "Load more"}
          </Button>
        </div>
      )}
    </>
  );
}

function statusWords(
  count: number,
  isBusy: boolean,
  hasMore: boolean,
  isFiltered: boolean,
): string {
  if (count > 0) return `${count}${hasMore ? "+" : ""} results`;
  if (isBusy) return "Searching…";
  return isFiltered ? "No results for these types." : "No results.";
}

const results = () => [...document.querySelectorAll<HTMLElement>("[data-result]")];

/** Arrow Down moves to the results; Enter opens one there. */
function onFieldKey(event: KeyboardEvent<HTMLInputElement>, clear: () => void): void {
  if (event.key === "ArrowDown") {
    event.preventDefault();
    results()[0]?.focus();
  } else if (event.key === "Escape") {
    event.preventDefault();
    clear();
  }
}

function walk(event: KeyboardEvent): void {
  if (event.key === "Escape") focusField();
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step === 0) return;
  event.preventDefault();
  const all = results();
  const at = all.indexOf(document.activeElement as HTMLElement) + step;
  if (at < 0) focusField();
  else all[at]?.focus();
}

function focusField(): void {
  document.querySelector<HTMLElement>("[data-search-box]")?.focus();
}
