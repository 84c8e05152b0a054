/** Link to one entry of a transcript: finds its row and loads the history up to it. */
import { useLocation } from "@tanstack/react-router";
import { useEffect } from "react";
import type { Entry } from "#protocol/sessions.ts";
import type { Row } from "./rows.ts";

const FORM = /^#?entry-(\d{1,15})$/;
/** Limit on loading back; beyond it the page stays at the oldest loaded entry. */
const MAX_PAGES = 60;

export function entrySeqIn(hash: string): number | undefined {
  const seq = FORM.exec(hash)?.[1];
  return seq === undefined ? undefined : Number(seq);
}

/** Returns the row of the entry, or the nearest row before it if the entry has none of its own. */
export function rowOfEntry(
  rows: readonly Row[],
  entries: readonly Entry[],
  seq: number,
): string | undefined {
  const keys = new Set(rows.map(({ key }) => key));
  return entries.findLast((entry) => entry.seq <= seq && keys.has(entry.id))?.id;
}

interface History {
  data: { pages: readonly unknown[] } | undefined;
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => Promise<unknown>;
}

/** Loads history until the entry is there. Returns undefined until then, or when no entry is asked for. */
export function useEntryTarget(
  history: History,
  entries: readonly Entry[],
  rows: readonly Row[],
): { seq: number; key: string } | undefined {
  const seq = useLocation({ select: ({ hash }) => entrySeqIn(hash) });
  const oldest = entries[0]?.seq;
  const isBefore = seq !== undefined && oldest !== undefined && seq < oldest;
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = history;
  const isWanted = isBefore && hasNextPage && (data?.pages.length ?? 0) < MAX_PAGES;
  useEffect(() => {
    if (isWanted && !isFetchingNextPage) void fetchNextPage();
  }, [isWanted, isFetchingNextPage, fetchNextPage]);
  if (seq === undefined || oldest === undefined || isWanted) return undefined;
  const key = rowOfEntry(rows, entries, Math.max(seq, oldest));
  return key === undefined ? undefined : { seq, key };
}
