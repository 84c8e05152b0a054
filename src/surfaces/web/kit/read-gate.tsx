/**
 * Read gate: a decision requires that its subject was on the screen. A card creates a gate and puts its
 * parts into `ReadScope`; each part reports when its start and its end were visible. The gate opens when
 * all parts have reported.
 */
import {
  createContext,
  type ReactNode,
  type RefObject,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";

interface Part {
  key: string;
  element: HTMLElement;
}

interface Scope {
  seen: ReadonlySet<string>;
  register(part: Part): () => void;
  markSeen(key: string): void;
}

const ReadContext = createContext<Scope | null>(null);

/** Parts that were seen, by card: a card that scrolls away and back need not be read again. */
const remembered = new Map<string, ReadonlySet<string>>();
const MAX_REMEMBERED = 200;

export interface ReadGate {
  scope: Scope;
  isRead: boolean;
  /** Scrolls the next unread part into view. */
  readOn(): void;
}

/** `id`: subject of the decision. */
export function useReadGate(id: string): ReadGate {
  const [parts, setParts] = useState<readonly Part[]>([]);
  const [seen, setSeen] = useState(() => remembered.get(id) ?? new Set<string>());
  const register = useCallback((part: Part) => {
    setParts((all) => [...all, part]);
    return () => setParts((all) => all.filter((one) => one !== part));
  }, []);
  const markSeen = useCallback(
    (key: string) =>
      setSeen((before) => {
        if (before.has(key)) return before;
        const after = new Set([...before, key]);
        remembered.delete(id);
        remembered.set(id, after);
        const [oldest] = remembered.keys();
        if (remembered.size > MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
        return after;
      }),
    [id],
  );
  const scope = useMemo(() => ({ seen, register, markSeen }), [seen, register, markSeen]);
  const unread = parts.filter(({ key }) => !seen.has(key));
  return {
    scope,
    // Nothing was seen before the parts have reported.
    isRead: parts.length > 0 && unread.length === 0,
    readOn: () => {
      const first = unread.toSorted((a, b) => byPlace(a.element, b.element))[0];
      if (first) pageThrough(first.element);
    },
  };
}

function byPlace(a: HTMLElement, b: HTMLElement): number {
  return a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1;
}

function pageThrough(element: HTMLElement): void {
  const { top, bottom } = element.getBoundingClientRect();
  const isInView = top >= 0 && top < window.innerHeight && bottom <= window.innerHeight;
  const hasMore = element.scrollTop + element.clientHeight < element.scrollHeight - 1;
  if (!isInView) element.scrollIntoView({ block: top < 0 ? "start" : "nearest" });
  if (isInView && hasMore) element.scrollBy({ top: element.clientHeight * 0.9 });
  // The start was not seen yet, for instance because End was pressed at once.
  else if (isInView) element.scrollTo({ top: 0 });
  element.focus({ preventScroll: true });
}

export function ReadScope({ gate, children }: { gate: ReadGate; children: ReactNode }) {
  return <ReadContext value={gate.scope}>{children}</ReadContext>;
}

export interface SeenMarks {
  /** Ref of the element that is read, and scrolls if it is long. */
  region: RefObject<HTMLElement | null>;
  /** Refs of marks at the start and at the end of the text. */
  start: RefObject<HTMLElement | null>;
  end: RefObject<HTMLElement | null>;
  /** True also outside of a scope. */
  isSeen: boolean;
}

/** `isWhole`: false while a part of the text is not drawn, so that its end is not the real end. */
export function useSeenToEnd(key: string, isWhole = true): SeenMarks {
  const scope = useContext(ReadContext);
  const region = useRef<HTMLElement | null>(null);
  const start = useRef<HTMLElement | null>(null);
  const end = useRef<HTMLElement | null>(null);
  const register = scope?.register;
  const markSeen = scope?.markSeen;
  const isSeen = scope === null || scope.seen.has(key);
  useEffect(() => {
    if (!register || !region.current) return;
    return register({ key, element: region.current });
  }, [register, key]);
  useEffect(() => {
    if (!markSeen || isSeen || !isWhole || !region.current) return;
    return watch({ region: region.current, start: start.current, end: end.current }, () =>
      markSeen(key),
    );
  }, [markSeen, isSeen, isWhole, key]);
  return { region, start, end, isSeen };
}

interface Watched {
  region: HTMLElement;
  start: HTMLElement | null;
  end: HTMLElement | null;
}

/** Calls back once both marks were visible, inside their own scrolling box and in the window. */
function watch({ region, start, end }: Watched, onSeen: () => void): (() => void) | undefined {
  if (!start || !end) return;
  if (typeof IntersectionObserver === "undefined") return watchScrolling(region, onSeen);
  const waiting = new Set<Element>([start, end]);
  const observer = new IntersectionObserver((entries) => {
    for (const { target, intersectionRatio } of entries)
      if (intersectionRatio > 0) waiting.delete(target);
    if (waiting.size > 0) return;
    observer.disconnect();
    onSeen();
  });
  observer.observe(start);
  observer.observe(end);
  return () => observer.disconnect();
}

function watchScrolling(region: HTMLElement, onSeen: () => void): () => void {
  const look = () => {
    if (region.scrollTop + region.clientHeight >= region.scrollHeight - 1) onSeen();
  };
  look();
  region.addEventListener("scroll", look);
  return () => region.removeEventListener("scroll", look);
}
