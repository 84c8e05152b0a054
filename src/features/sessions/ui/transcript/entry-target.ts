/** An address may name one entry of a transcript: which row shows it, and what must be read to see it. */
import { useLocation } from "@tanstack/react-router";
import { useEffect } from "react";
import type { Entry } from "#protocol/sessions.ts";
import type { Row } from "./rows.ts";

const FORM = /^#?entry-(\d{1,15})$/;
/** Further back than this nobody waits for; the page stays where it has come to. */
const MOST_PAGES = 60;

export function entrySeqIn(hash: string): number | undefined {
  const seq = FORM.exec(hash)?.[1];
  return seq === undefined ? undefined : Number(seq);
}

/** The row of that entry; of one that is shown within another's, the row before it. */
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

/** Reads back until the entry is there. Undefined while it is not, or when none is asked for. */
export function useEntryTarget(
  history: History,
  entries: readonly Entry[],
  rows: readonly Row[],
): { seq: number; key: string } | undefined {
  const seq = useLocation({ select: ({ hash }) => entrySeqIn(hash) });
  const oldest = entries[0]?.seq;
  const isBefore = seq !== undefined && oldest !== undefined && seq < oldest;
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = history;
  const isWanted = isBefore && hasNextPage && (data?.pages.length ?? 0) < MOST_PAGES;
  useEffect(() => {
    if (isWanted && !isFetchingNextPage) void fetchNextPage();
  }, [isWanted, isFetchingNextPage, fetchNextPage]);
  if (seq === undefined || oldest === undefined || isWanted) return undefined;
  const key = rowOfEntry(rows, entries, Math.max(seq, oldest));
  return key === undefined ? undefined : { seq, key };
}
