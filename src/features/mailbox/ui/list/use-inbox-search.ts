import { useSearch } from "@tanstack/react-router";
import { type InboxSearch, readInboxSearch } from "./inbox-search.ts";

/** What the address says that is known here; the router gives on the rest of it too. */
export function useInboxSearch(): InboxSearch {
  return readInboxSearch(useSearch({ strict: false }));
}
