import { useCallback, useState } from "react";

const KEY = "muster.folded";
/** The newest are kept; sessions that were folded long ago are gone by then. */
const KEPT = 200;

function read(): Set<string> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return new Set(Array.isArray(kept) ? kept.filter((id) => typeof id === "string") : []);
  } catch {
    return new Set();
  }
}

function keep(folded: ReadonlySet<string>): void {
  try {
    localStorage.setItem(KEY, JSON.stringify([...folded].slice(-KEPT)));
  } catch {
    // Storage may be full or forbidden; it is folded on this page all the same.
  }
}

/** Whose children are hidden, as this browser left it. */
export function useFolded(): [ReadonlySet<string>, (id: string, isFolded: boolean) => void] {
  const [folded, setFolded] = useState<ReadonlySet<string>>(read);
  const fold = useCallback((id: string, isFolded: boolean) => {
    setFolded((before) => {
      const next = new Set(before);
      if (isFolded) next.add(id);
      else next.delete(id);
      keep(next);
      return next;
    });
  }, []);
  return [folded, fold];
}
