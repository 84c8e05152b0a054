import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Page } from "#protocol/page.ts";
import type { Approval } from "./approval.ts";
import { keys } from "./query-keys.ts";

/** Names the tab, with how much waits for the person in front. */
export function useDocumentTitle(title: string): void {
  const waiting = useQuery<Page<Approval>, Error, number>({
    queryKey: keys.pendingApprovals,
    enabled: false,
    select: (page) => page.items.length,
  });
  const count = waiting.data ?? 0;
  useEffect(() => {
    document.title = `${count > 0 ? `(${count}) ` : ""}${title} · Muster`;
    return () => {
      document.title = "Muster";
    };
  }, [title, count]);
}
