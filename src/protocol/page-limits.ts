/** Limits of list pages, apart from their schemas: a page imports them, and no schema with them. */
export const PAGE_LIMIT_DEFAULT = 50;
export const PAGE_LIMIT_MAX = 200;
