import { useSearch } from "@tanstack/react-router";
import { type InboxSearch, readInboxSearch } from "./inbox-search.ts";

/** Returns the known inbox filters of the address; the router passes on other parameters too. */
export function useInboxSearch(): InboxSearch {
  return readInboxSearch(useSearch({ strict: false }));
}
