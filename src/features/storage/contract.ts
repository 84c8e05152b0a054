/** Room taken in the database, and how long each kind is kept, as the wire says it. */
import * as z from "zod";
import { apiRoute } from "#protocol/api-route.ts";
import { isoTime } from "#protocol/page.ts";

export const retentionSchema = z
  .object({
    kind: z.string(),
    summary: z.string(),
    /** Days that rows are kept; null: for good. */
    days: z.number().int().nullable(),
    defaultDays: z.number().int().nullable(),
    minDays: z.number().int(),
    /** False: nobody has set it, and the default holds. */
    isSet: z.boolean(),
    /** Rows that go with the next housekeeping, and within a week, each counted up to 10,000. */
    due: z.number().int(),
    dueInWeek: z.number().int(),
    /** Why rows that are due stay all the same; null when they go. */
    whyKept: z.string().nullable(),
    /** Everything older than this goes; null: nothing does. */
    before: isoTime.nullable(),
  })
  .meta({ id: "Retention" });
export type Retention = z.infer<typeof retentionSchema>;

const sizes = {
  rows: z.number().int(),
  bytes: z.number().int(),
  /** Large tables are looked at in part, and the rest is reckoned from it. */
  isEstimate: z.boolean(),
};

export const storageSchema = z
  .object({
    at: isoTime,
    database: z.object({
      kind: z.enum(["sqlite", "postgres"]),
      bytes: z.number().int(),
      /** Inside the file, for rows to come. Null where the database does not tell. */
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
    /** Sessions with the longest logs; what their events take is reckoned from the average. */
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
    /** Nothing is removed before this instant, because the database was restored. */
    heldUntil: isoTime.nullable(),
  })
  .meta({ id: "Storage" });
export type Storage = z.infer<typeof storageSchema>;

/** `days`: null keeps rows for good, "default" takes back what was set. */
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
    summary: "The size of everything in the database, and the rows that are due to go (admins)",
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
