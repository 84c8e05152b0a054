/** SQL on the facts that the kernel needs about people; a feature owns the rest of their rows. */
import { type Reader, statements } from "#base/store/index.ts";
import type { TimePlace } from "#base/zoned-time.ts";
import type { KernelTables } from "#engine/schema.ts";

const selectPlace = statements<KernelTables>()<{ id: string }, TimePlace>((db, p) =>
  db.selectFrom("users").select(["timezone", "locale"]).where("id", "=", p("id")),
);
export function findTimePlace(reader: Reader, userId: string): Promise<TimePlace | undefined> {
  return reader.first(selectPlace, { id: userId });
}
