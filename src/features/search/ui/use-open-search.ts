/** The way to the search from anywhere. */
import { useNavigate } from "@tanstack/react-router";
import { useCallback, useEffect } from "react";
import { randomId } from "#surfaces/web/kit/text/random-id.ts";

declare module "@tanstack/react-router" {
  interface HistoryState {
    /** Each time it is opened from elsewhere it is another search. */
    searchId?: string;
  }
}

export function useOpenSearch(): (words?: string) => void {
  const navigate = useNavigate();
  return useCallback(
    (words) =>
      void navigate({
        to: "/search",
        search: (before: object) =>
          ({ ...before, q: undefined, for: words, kinds: undefined }) as never,
        state: { searchId: randomId() },
      }),
    [navigate],
  );
}

/** Ctrl+K, or Cmd+K: heard while one types too, because nobody types that. */
export function useSearchShortcut(): void {
  const open = useOpenSearch();
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || event.defaultPrevented) return;
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
      // Behind an open dialog the page stays where it is.
      if (document.querySelector("[role=dialog][data-state=open], [role=alertdialog]")) return;
      event.preventDefault();
      open();
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, [open]);
}
