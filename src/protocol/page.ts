import * as z from "zod";

export const PAGE_LIMIT_DEFAULT = 50;
export const PAGE_LIMIT_MAX = 200;

/** Every list on the wire: `next` is an opaque cursor, or null at the end. */
export interface Page<T> {
  items: T[];
  next: string | null;
}

export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), next: z.string().nullable() });
}

/** An instant on the wire. */
export const isoTime = z.string().meta({ format: "date-time" });
