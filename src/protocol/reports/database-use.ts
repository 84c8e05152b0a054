/** Disk space of the database, as far as the server can tell. */
import * as z from "zod";

const bytes = z.number().int().min(0);

export const databaseUseSchema = z
  .object({
    databaseBytes: bytes,
    /** Size of SQLite's write-ahead log. */
    logBytes: bytes,
    /** Space held in reserve for the time when the disk is full. */
    reserveBytes: bytes,
    /** Copies made before the database was migrated to a new version. */
    backups: z.object({ count: z.number().int(), bytes }),
    /** Free space of the database's disk; null when the disk is on another machine. */
    freeBytes: bytes.nullable(),
  })
  .meta({ id: "DatabaseUse" });
export type DatabaseUse = z.infer<typeof databaseUseSchema>;
