import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Page } from "#protocol/page.ts";
import { keys } from "../api/query-keys.ts";
import type { Approval } from "../approval.ts";
import { revealLine } from "../text/reveal.ts";

/** Sets the tab's title, with the number of pending approvals in front. */
export function useDocumentTitle(title: string): void {
  const waiting = useQuery<Page<Approval>, Error, number>({
    queryKey: keys.pendingApprovals,
    enabled: false,
    select: (page) => page.items.length,
  });
  const count = waiting.data ?? 0;
  useEffect(() => {
    document.title = `${count > 0 ? `(${count}) ` : ""}${isolated(revealLine(title))} · Muster`;
    return () => {
      document.title = "Muster";
    };
  }, [title, count]);
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** Isolates a right-to-left name, so that it does not move the number before it. */
function isolated(name: string): string {
  return RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name;
}
