/** The room that the database takes up, as far as the server can tell. */
import * as z from "zod";

const bytes = z.number().int().min(0);

export const databaseUseSchema = z
  .object({
    databaseBytes: bytes,
    /** SQLite's write-ahead log. */
    logBytes: bytes,
    /** Held on the disk for the time when it is full. */
    reserveBytes: bytes,
    /** Copies that were made before the database was changed for a new version. */
    backups: z.object({ count: z.number().int(), bytes }),
    /** Free space of the database's disk; null when the disk is on another machine. */
    freeBytes: bytes.nullable(),
  })
  .meta({ id: "DatabaseUse" });
export type DatabaseUse = z.infer<typeof databaseUseSchema>;
