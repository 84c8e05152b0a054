/** Memories on the wire. */
import * as z from "zod";
import { cleanText } from "#base/text/clean-text.ts";
import { apiRoute } from "#protocol/api-route.ts";
import { isoTime, pageOf, pageQuery } from "#protocol/page.ts";

/**
 * `orchestrator`: memories of a person's orchestrator.
 * `session`: memories of sessions about a repository.
 */
export const MEMORY_KINDS = ["orchestrator", "session"] as const;
export type MemoryKind = (typeof MEMORY_KINDS)[number];

/** Suggestions: a category may be any short text. */
export const CATEGORIES = [
  "preference",
  "workflow",
  "context",
  "project",
  "decision",
  "repo_affinity",
  "routing_correction",
  "task_pattern",
  "persona_preference",
  "general",
] as const;
export const DEFAULT_CATEGORY = "general";

export const MAX_CONTENT_CHARS = 4_000;
export const MAX_TITLE_CHARS = 200;
export const MAX_CATEGORY_CHARS = 64;
const MAX_QUERY_CHARS = 2_000;
const MAX_REPO_CHARS = 2_000;
/** Maximum of earlier versions that a memory keeps, newest first. */
export const MAX_HISTORY = 10;
/** Maximum of files per request; a larger folder is sent in several. */
export const MAX_IMPORTED = 200;
/** Maximum size of a memory with its front matter. */
export const MAX_FILE_CHARS = 16_000;

/** Free text, stored unchanged except for characters that no database can hold. */
const kept = (max: number) =>
  z.string().max(max, `is longer than ${max} characters`).transform(cleanText);
export const contentInput = kept(MAX_CONTENT_CHARS).refine((text) => text !== "", "is empty");
export const titleInput = kept(MAX_TITLE_CHARS)
  .transform((text) => text.trim())
  .refine((text) => text !== "", "is empty");
export const categoryInput = kept(MAX_CATEGORY_CHARS)
  .transform((text) => text.trim())
  .refine((text) => text !== "", "is empty");
export const queryInput = kept(MAX_QUERY_CHARS);
const repoInput = kept(MAX_REPO_CHARS);

const memorySchema = z
  .object({
    id: z.string(),
    kind: z.enum(MEMORY_KINDS),
    /** Repository of a session memory. */
    repo: z.string().nullable(),
    category: z.string(),
    title: z.string().nullable(),
    content: z.string(),
    /** 0 to 2: begins at 1, rises when a search reads the memory, and fades by a hundredth each day. */
    relevance: z.number(),
    /** True if the memory is never pruned and agents cannot change it. */
    pinned: z.boolean(),
    accessCount: z.number().int(),
    createdAt: isoTime,
    updatedAt: isoTime,
    lastAccessedAt: isoTime,
    /** Session and prompt that wrote the memory; null: its owner did. */
    source: z.object({ sessionId: z.string(), promptId: z.string().nullable() }).nullable(),
  })
  .meta({ id: "Memory" });
export type Memory = z.infer<typeof memorySchema>;

const earlierSchema = z.object({
  title: z.string().nullable(),
  content: z.string(),
  /** Time when this version was replaced. */
  replacedAt: isoTime,
});
export type EarlierVersion = z.infer<typeof earlierSchema>;

const memoryWithHistorySchema = z.object({
  memory: memorySchema,
  /** Earlier versions, newest first. */
  history: z.array(earlierSchema),
});

const writtenSchema = z.object({
  memory: memorySchema,
  /** True if the memory replaced an earlier one about the same topic. */
  replaced: z.boolean(),
  /** Memories that were removed to make room. */
  pruned: z.array(memorySchema),
});
export type WriteResult = z.infer<typeof writtenSchema>;

const newMemorySchema = z.strictObject({
  content: contentInput,
  category: categoryInput.default(DEFAULT_CATEGORY),
  title: titleInput.nullable().optional(),
  pinned: z.boolean().optional(),
});

const newSessionMemorySchema = newMemorySchema.extend({
  /** Address of the repository; default: sessions without one. */
  repo: repoInput.optional(),
});

const memoryChangeSchema = z
  .strictObject({
    content: contentInput,
    category: categoryInput,
    title: titleInput.nullable(),
    pinned: z.boolean(),
  })
  .partial()
  .refine((change) => Object.keys(change).length > 0, "Say what to change.");
export type MemoryChange = z.infer<typeof memoryChangeSchema>;

const instant = z.iso
  .datetime({ offset: true })
  .or(z.iso.date())
  .transform((text) => Date.parse(text));

const memoryListQuery = z.strictObject({
  /** Plain words. Memories found this way count as read, unless `counted` is false. */
  query: queryInput.optional(),
  /** False for a reader who only browses. */
  counted: z.stringbool().default(true),
  category: categoryInput.optional(),
  /** Bounds of the time of writing: from `since`, before `until`. */
  since: instant.optional(),
  until: instant.optional(),
  pinned: z.stringbool().optional(),
  ...pageQuery,
});
export type MemoryListQuery = z.infer<typeof memoryListQuery>;

const sessionMemoryListQuery = memoryListQuery.extend({
  /** Address or name of the repository. */
  repo: repoInput.optional(),
});

export const pruneSchema = z.strictObject({
  /** Upper bound of relevance; default: memories that have faded. */
  below: z.number().min(0).max(2).optional(),
  /** Only memories that were neither read nor written for this many days. */
  unusedDays: z.number().int().min(0).max(36_500).optional(),
  category: categoryInput.optional(),
  /** True: report what would be removed, and remove nothing. */
  dryRun: z.boolean().default(false),
});
export type PruneRequest = z.infer<typeof pruneSchema>;

const prunedSchema = z.object({
  pruned: z.array(memorySchema),
  /** True if there is more to remove: send the request again. */
  more: z.boolean(),
  dryRun: z.boolean(),
});
export type Pruned = z.infer<typeof prunedSchema>;

/** A scope: the memories of an orchestrator, or those about a repository. */
const memoryScopeSchema = z
  .object({
    kind: z.enum(MEMORY_KINDS),
    /** Null: the orchestrator's, or those of sessions without a repository. */
    repo: z.string().nullable(),
    memories: z.number().int(),
    pinned: z.number().int(),
    /** Maximum of memories that are not pinned. */
    room: z.number().int(),
  })
  .meta({ id: "MemoryShelf" });
export type MemoryScope = z.infer<typeof memoryScopeSchema>;

/** Repository of session memories; default: the orchestrator's memories. */
const exportQuery = z.strictObject({ repo: repoInput.optional() });

const memoryFileSchema = z.object({ path: z.string(), content: z.string() });
export type MemoryFile = z.infer<typeof memoryFileSchema>;
const exportedSchema = z.object({ files: z.array(memoryFileSchema) });

const importSchema = z.strictObject({
  files: z
    .array(z.strictObject({ path: z.string().max(500), content: z.string().max(MAX_FILE_CHARS) }))
    .max(MAX_IMPORTED),
  repo: repoInput.optional(),
});
export type ImportRequest = z.infer<typeof importSchema>;

const importedSchema = z.object({
  created: z.number().int(),
  replaced: z.number().int(),
  unchanged: z.number().int(),
  pruned: z.number().int(),
  /** Refused files and the reasons. */
  refused: z.array(z.object({ path: z.string(), reason: z.string() })),
});
export type Imported = z.infer<typeof importedSchema>;

/** Path of a file in an export, as the server names it. */
export const MEMORY_PATH = /^[a-z0-9][a-z0-9-]{0,80}\/[a-z0-9][a-z0-9-]{0,120}\.md$/;

const TAG = "Memory";
const MEMORIES = "/api/me/memories";
const MEMORY = `${MEMORIES}/{id}` as const;
const one = z.object({ memory: memorySchema });

export const memoryApi = {
  list: apiRoute({
    method: "get",
    path: MEMORIES,
    summary: "Your orchestrator's memories: the newest first, or the best matches for plain words",
    tag: TAG,
    query: memoryListQuery,
    response: pageOf(memorySchema),
  }),
  create: apiRoute({
    method: "post",
    path: MEMORIES,
    summary: "Add a memory to your orchestrator; an earlier one on the same subject is replaced",
    tag: TAG,
    body: newMemorySchema,
    response: writtenSchema,
    status: 201,
  }),
  listSession: apiRoute({
    method: "get",
    path: `${MEMORIES}/session`,
    summary: "Your sessions' memories of repositories",
    tag: TAG,
    query: sessionMemoryListQuery,
    response: pageOf(memorySchema),
  }),
  createSession: apiRoute({
    method: "post",
    path: `${MEMORIES}/session`,
    summary: "Add a memory for your sessions in a repository",
    tag: TAG,
    body: newSessionMemorySchema,
    response: writtenSchema,
    status: 201,
  }),
  scopes: apiRoute({
    method: "get",
    path: `${MEMORIES}/shelves`,
    summary: "Number of memories of your orchestrator, and of your sessions by repository",
    tag: TAG,
    response: z.object({ items: z.array(memoryScopeSchema) }),
  }),
  prune: apiRoute({
    method: "post",
    path: `${MEMORIES}/prune`,
    summary: "Delete memories of little relevance; the answer lists them",
    tag: TAG,
    body: pruneSchema,
    response: prunedSchema,
  }),
  export: apiRoute({
    method: "get",
    path: `${MEMORIES}/export`,
    summary: "Export memories as Markdown files with front matter",
    tag: TAG,
    query: exportQuery,
    response: exportedSchema,
  }),
  import: apiRoute({
    method: "post",
    path: `${MEMORIES}/import`,
    summary: "Import Markdown files; a file with the title or text of a memory updates that memory",
    tag: TAG,
    body: importSchema,
    response: importedSchema,
  }),
  get: apiRoute({
    method: "get",
    path: MEMORY,
    summary: "One memory with its earlier versions",
    tag: TAG,
    response: memoryWithHistorySchema,
  }),
  update: apiRoute({
    method: "patch",
    path: MEMORY,
    summary: "Change, pin or unpin a memory",
    tag: TAG,
    body: memoryChangeSchema,
    response: one,
  }),
  delete: apiRoute({
    method: "delete",
    path: MEMORY,
    summary: "Delete a memory",
    tag: TAG,
    response: one,
  }),
};
