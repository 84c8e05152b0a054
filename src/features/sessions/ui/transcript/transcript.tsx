import { useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { ArrowDown } from "lucide-react";
import {
  type MouseEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import type { Row } from "./rows.ts";
import { TranscriptRow } from "./transcript-row.tsx";

interface TranscriptProps {
  rows: Row[];
  /** Row that a link leads to: it is scrolled into view once for each `seq`. */
  target?: { seq: number; key: string } | undefined;
  /** Name of the agent. */
  speaker: string;
  /** Replaces the default text of a session without prompts. */
  welcome?: ReactNode;
  /** True before the first prompt, even if there are notices: the welcome is shown above them. */
  isFresh?: boolean;
  isLoading: boolean;
  hasOlder: boolean;
  isLoadingOlder: boolean;
  onLoadOlder: () => void;
}

/** Distance from the end in pixels within which the reader counts as "at the latest" and is kept there. */
const END_ZONE_PX = 80;
const NEVER_AT_END = -1;
/** Number of rows before the oldest one at which older history is requested. */
const LOAD_AHEAD_ROWS = 12;

const ESTIMATES: Record<Row["type"], number> = {
  welcome: 420,
  day: 44,
  agent: 32,
  prompt: 96,
  wake: 72,
  aside: 72,
  forwarded: 120,
  text: 120,
  reasoning: 36,
  tool: 40,
  gate: 240,
  notice: 36,
  pulse: 36,
};

const WELCOME: Row = { type: "welcome", key: "welcome" };

export function Transcript({
  rows: contentRows,
  target,
  speaker,
  welcome,
  isFresh = false,
  isLoading,
  hasOlder,
  isLoadingOlder,
  onLoadOlder,
}: TranscriptProps) {
  const isWelcomed = isFresh && welcome !== undefined && contentRows.length > 0;
  const rows = useMemo(
    () => (isWelcomed ? [WELCOME, ...contentRows] : contentRows),
    [isWelcomed, contentRows],
  );
  const scroller = useRef<HTMLDivElement>(null);
  const [isFollowing, setIsFollowing] = useState(true);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => ESTIMATES[rows[index]?.type ?? "text"],
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 8,
    paddingStart: 16,
    paddingEnd: 24,
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: isFollowing ? END_ZONE_PX : NEVER_AT_END,
    useFlushSync: false,
  });
  const items = virtualizer.getVirtualItems();

  const hasRows = rows.length > 0;
  useFollowing(scroller, virtualizer, rows, isFollowing);
  const isJumping = useRef(false);
  const found = useTarget(virtualizer, rows, target, () => {
    setIsFollowing(false);
    isJumping.current = true;
  });
  const lastTop = useRef(0);
  const noteScroll = () => {
    const top = scroller.current?.scrollTop ?? 0;
    // The virtualizer learns of a jump later, and would report that the reader is still at the end.
    if (isJumping.current) isJumping.current = false;
    else if (virtualizer.isAtEnd(END_ZONE_PX)) setIsFollowing(true);
    else if (top < lastTop.current) setIsFollowing(false);
    lastTop.current = top;
  };
  // A row that somebody expands stays in place: keeping the end visible must not push it up.
  const noteOpening = (event: MouseEvent) => {
    const button = event.target instanceof Element ? event.target.closest("[aria-expanded]") : null;
    if (button?.getAttribute("aria-expanded") === "false") setIsFollowing(false);
  };

  const firstIndex = items[0]?.index ?? 0;
  const wantsOlder = hasRows && hasOlder && !isLoadingOlder && firstIndex < LOAD_AHEAD_ROWS;
  useEffect(() => {
    if (wantsOlder) onLoadOlder();
  }, [wantsOlder, onLoadOlder]);

  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scroller}
        role="log"
        aria-label="Transcript"
        aria-live="off"
        aria-busy={isLoading}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        tabIndex={0}
        onScroll={noteScroll}
        onClickCapture={noteOpening}
        className="h-full overflow-y-auto overscroll-contain [overflow-anchor:none] -outline-offset-2"
      >
        {!isLoading &&
          !hasRows &&
          (welcome ?? (
            <p className="grid h-full place-items-center p-6 text-center text-ink-faint">
              No messages yet. Write the first prompt below.
            </p>
          ))}
        {isLoadingOlder && (
          <p
            role="status"
            className="absolute inset-x-0 top-2 z-10 text-center text-xs text-ink-faint"
          >
            Loading older entries…
          </p>
        )}
        <div className="relative w-full" style={{ height: virtualizer.getTotalSize() }}>
          {items.map((item) => {
            const row = rows[item.index];
            return row === undefined ? null : (
              <div
                key={item.key}
                ref={virtualizer.measureElement}
                data-index={item.index}
                data-row={row.type}
                data-found={row.key === found || undefined}
                className="data-found:bg-accent-soft absolute inset-x-0 top-0 mx-auto flow-root w-full max-w-3xl px-4 sm:px-7"
                style={{ transform: `translateY(${item.start}px)` }}
              >
                {row.type === "welcome" ? welcome : <TranscriptRow row={row} speaker={speaker} />}
              </div>
            );
          })}
        </div>
      </div>
      {!isFollowing && hasRows && (
        <button
          type="button"
          onClick={() => setIsFollowing(true)}
          className="animate-rise absolute bottom-3 left-1/2 flex h-8 -translate-x-1/2 items-center gap-1.5 rounded-full border border-line bg-raised pr-3.5 pl-3 text-xs font-medium shadow-float hover:bg-hover"
        >
          <ArrowDown size={14} aria-hidden />
          Jump to latest
        </button>
      )}
    </div>
  );
}

/**
 * Keeps the reader at the latest entry until they scroll up: through new rows, growing text, and a
 * pane that shrinks because the queue or the keyboard takes room.
 */
function useFollowing(
  scroller: RefObject<HTMLDivElement | null>,
  virtualizer: Virtualizer<HTMLDivElement, Element>,
  rows: Row[],
  isFollowing: boolean,
): void {
  const totalSize = virtualizer.getTotalSize();
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls whenever there is more to show
  useLayoutEffect(() => {
    if (isFollowing && rows.length > 0) virtualizer.scrollToEnd();
  }, [isFollowing, rows, totalSize, virtualizer]);
  useEffect(() => {
    const pane = scroller.current;
    if (pane === null || !isFollowing) return;
    const observer = new ResizeObserver(() => virtualizer.scrollToEnd());
    observer.observe(pane);
    return () => observer.disconnect();
  }, [isFollowing, scroller, virtualizer]);
}

/** Scrolls to the requested row, and marks it for as long as the same one is requested. */
function useTarget(
  virtualizer: Virtualizer<HTMLDivElement, Element>,
  rows: readonly Row[],
  target: TranscriptProps["target"],
  onFound: () => void,
): string | undefined {
  const done = useRef<number>(undefined);
  const latest = useRef(onFound);
  useEffect(() => {
    latest.current = onFound;
  });
  useEffect(() => {
    if (target === undefined || done.current === target.seq) return;
    const place = rows.findIndex(({ key }) => key === target.key);
    if (place < 0) return;
    done.current = target.seq;
    // Scrolling caused by the last step to the end is over in the next frame.
    requestAnimationFrame(() => {
      // Everything is visible: there is nowhere to scroll.
      if (virtualizer.getTotalSize() <= (virtualizer.scrollRect?.height ?? 0)) return;
      latest.current();
      virtualizer.scrollToIndex(place, { align: "center" });
    });
  }, [rows, target, virtualizer]);
  return target?.key;
}
