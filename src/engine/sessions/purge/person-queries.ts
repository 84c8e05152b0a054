/** SQL on the facts that the kernel needs about people; a feature owns the rest of their rows. */
import { type Reader, statements } from "#base/store/index.ts";
import type { LocalTimeSettings } from "#base/zoned-time.ts";
import type { KernelTables } from "#engine/schema.ts";

const selectPlace = statements<KernelTables>()<{ id: string }, LocalTimeSettings>((db, p) =>
  db.selectFrom("users").select(["timezone", "locale"]).where("id", "=", p("id")),
);
export function findLocalTimeSettings(
  reader: Reader,
  userId: string,
): Promise<LocalTimeSettings | undefined> {
  return reader.first(selectPlace, { id: userId });
}
