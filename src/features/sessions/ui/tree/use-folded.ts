import { useCallback, useState } from "react";

const KEY = "muster.folded";
/** Limit of remembered ids, newest first; sessions folded long ago are gone by then. */
const MAX_REMEMBERED = 200;

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
    localStorage.setItem(KEY, JSON.stringify([...folded].slice(-MAX_REMEMBERED)));
  } catch {
    // Storage may be full or forbidden; folding still works on this page.
  }
}

/** Sessions whose children are hidden, remembered in this browser. */
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
