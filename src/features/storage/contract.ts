/** Sizes in the database and retention of each kind, on the wire. */
import * as z from "zod";
import { apiRoute } from "#protocol/api-route.ts";
import { isoTime } from "#protocol/page.ts";

export const retentionSchema = z
  .object({
    kind: z.string(),
    summary: z.string(),
    /** Days that rows are kept; null: for ever. */
    days: z.number().int().nullable(),
    defaultDays: z.number().int().nullable(),
    minDays: z.number().int(),
    /** False: the default applies. */
    isSet: z.boolean(),
    /** Rows that the next housekeeping removes, and those due within a week, each counted up to 10,000. */
    due: z.number().int(),
    dueInWeek: z.number().int(),
    /** Reason why due rows stay; null when they are removed. */
    whyKept: z.string().nullable(),
    /** Rows older than this are removed; null: none are. */
    before: isoTime.nullable(),
  })
  .meta({ id: "Retention" });
export type Retention = z.infer<typeof retentionSchema>;

const sizes = {
  rows: z.number().int(),
  bytes: z.number().int(),
  /** True if only a part of a large table was read and the rest extrapolated. */
  isEstimate: z.boolean(),
};

export const storageSchema = z
  .object({
    at: isoTime,
    database: z.object({
      kind: z.enum(["sqlite", "postgres"]),
      bytes: z.number().int(),
      /** Free space inside the file, for new rows. Null where the database does not report it. */
      freeBytes: z.number().int().nullable(),
    }),
    /** Largest first. */
    kinds: z.array(
      z.object({
        kind: z.string(),
        ...sizes,
        tables: z.array(z.object({ table: z.string(), ...sizes })),
      }),
    ),
    /** Sessions with the longest logs; the size of their events is estimated from the average. */
    largestSessions: z.array(
      z.object({
        sessionId: z.string(),
        ownerId: z.string().nullable(),
        lifecycle: z.string(),
        events: z.number().int(),
        bytes: z.number().int(),
      }),
    ),
    retention: z.array(retentionSchema),
    /** Housekeeping removes nothing before this time, because the database was restored. */
    heldUntil: isoTime.nullable(),
  })
  .meta({ id: "Storage" });
export type Storage = z.infer<typeof storageSchema>;

/** `days`: null keeps rows for ever, "default" restores the default. */
export const retentionChangeSchema = z.strictObject({
  days: z.union([z.int().min(1).max(36_500), z.null(), z.literal("default")]),
});
export type RetentionChange = z.infer<typeof retentionChangeSchema>;

const TAG = "Storage";
const RETENTION = "/api/retention";
const retentionList = z.object({ items: z.array(retentionSchema) });

export const storageApi = {
  get: apiRoute({
    method: "get",
    path: "/api/storage",
    summary: "The size of everything in the database, and the rows due for removal (admins)",
    tag: TAG,
    response: storageSchema,
  }),
  listRetention: apiRoute({
    method: "get",
    path: RETENTION,
    summary: "How long each kind of row is kept (admins)",
    tag: TAG,
    response: retentionList,
  }),
  setRetention: apiRoute({
    method: "put",
    path: `${RETENTION}/{name}`,
    summary: "Set how many days rows of a kind are kept (admins)",
    tag: TAG,
    body: retentionChangeSchema,
    response: retentionList,
  }),
};
