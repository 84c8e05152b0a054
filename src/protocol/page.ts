import * as z from "zod";
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from "./page-limits.ts";

/** Page of a list on the wire: `next` is an opaque cursor, or null at the end. */
export interface Page<T> {
  items: T[];
  next: string | null;
}

export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), next: z.string().nullable() });
}

/** Query fields of every list. */
export const pageQuery = {
  limit: z.coerce.number<number>().int().min(1).max(PAGE_LIMIT_MAX).default(PAGE_LIMIT_DEFAULT),
  cursor: z.string().max(1_000).optional(),
};

/** An instant on the wire. */
export const isoTime = z.string().meta({ format: "date-time" });
