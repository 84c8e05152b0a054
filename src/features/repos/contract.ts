/** Repositories on the wire, and their routes. A webhook secret goes in; no route returns it. */
import * as z from "zod";
import { isStorable } from "#base/text/clean-text.ts";
import { UNSTORABLE } from "#base/text/text-schemas.ts";
import { SECRET_NAME } from "#features/secrets/contract.ts";
import { apiRoute } from "#protocol/api-route.ts";
import { isoTime, pageOf, pageQuery } from "#protocol/page.ts";

export const REPO_PROVIDERS = ["github", "git"] as const;
export type RepoProvider = (typeof REPO_PROVIDERS)[number];

/** Secret with the token for GitHub, unless another is named. */
export const GITHUB_TOKEN_SECRET = "GITHUB_TOKEN";

export const repoSchema = z
  .object({
    id: z.string(),
    /** Name such as `owner/name`, which sessions may use. */
    fullName: z.string(),
    /** The part of `fullName` before its last slash; null when it has none. */
    owner: z.string().nullable(),
    /** The part of `fullName` behind its last slash. */
    name: z.string(),
    provider: z.enum(REPO_PROVIDERS),
    url: z.string(),
    description: z.string().nullable(),
    /** Null: the repository's own default branch. */
    defaultBranch: z.string().nullable(),
    language: z.string().nullable(),
    topics: z.array(z.string()),
    /** True if sessions may use it. */
    enabled: z.boolean(),
    personaSlug: z.string().nullable(),
    /** Command to run once in a new workspace, in its sandbox, before the agent begins. */
    setupCommand: z.string().nullable(),
    /** Name of the organisation's secret that opens it: a token, or `user:password`. */
    credential: z.string().nullable(),
    hasWebhookSecret: z.boolean(),
    /** Time when a sync last found it; null: never. */
    syncedAt: isoTime.nullable(),
    /** Time since when GitHub no longer lists it; null: it does, or was never asked. */
    missingAt: isoTime.nullable(),
    /** Reason why sessions on it will fail, and the remedy; null when no problem is known. */
    problem: z.string().nullable(),
    createdAt: isoTime,
    updatedAt: isoTime,
  })
  .meta({ id: "Repo" });
export type Repo = z.infer<typeof repoSchema>;

const text = (max: number) => z.string().trim().max(max).refine(isStorable, UNSTORABLE);

const personaSlug = z.string().regex(/^[a-z0-9][a-z0-9-]{0,99}$/, "must be the slug of a persona");
const personaId = z.string().min(1).max(100);
const secretName = z.string().regex(SECRET_NAME, "must be the name of a secret");
/** A branch name that git cannot read as an option, a range or a ref outside its branches. */
const branch = z
  .string()
  .max(250)
  .regex(/^[\p{L}\p{N}_][\p{L}\p{N}._/+@#-]*$/u, "must be the name of a branch")
  .refine(
    (name) => !(/\.\.|@\{|\/\/|\/\./.test(name) || /(?:\.lock|[./])$/.test(name)),
    "must be the name of a branch",
  );

const settings = {
  description: text(2_000).nullable().optional(),
  defaultBranch: branch.nullable().optional(),
  language: text(100).nullable().optional(),
  topics: z.array(text(100).min(1)).max(50).optional(),
  enabled: z.boolean().optional(),
  /** Default persona of sessions on it. It stays when its slug changes. */
  personaSlug: personaSlug.nullable().optional(),
  setupCommand: text(4_000).nullable().optional(),
  credential: secretName.nullable().optional(),
  /** Never returned; null removes it. */
  webhookSecret: z
    .string()
    .regex(/^[\x21-\x7e]{8,200}$/, "must be 8 to 200 visible ASCII characters")
    .nullable()
    .optional(),
};

export const newRepoSchema = z.strictObject({
  /** Left out: taken from the address. */
  fullName: z.string().max(200).optional(),
  /** Left out: GitHub's address for this name. Any address that git accepts, or a path; no passwords. */
  url: z.string().max(2_000).optional(),
  /** Left out: derived from the address. */
  provider: z.enum(REPO_PROVIDERS).optional(),
  ...settings,
});
export type NewRepo = z.infer<typeof newRepoSchema>;

/** Fields left out stay. The name cannot change, because sessions and people refer to it. */
export const repoChangeSchema = z.strictObject({
  url: z.string().max(2_000).optional(),
  ...settings,
});
export type RepoChange = z.infer<typeof repoChangeSchema>;

/** Persona by slug or id; null for none. */
export const repoPersonaSchema = z
  .strictObject({
    personaSlug: personaSlug.nullable().optional(),
    personaId: personaId.nullable().optional(),
  })
  .refine(
    (body) => (body.personaSlug === undefined) !== (body.personaId === undefined),
    "must have personaSlug or personaId, and not both",
  );
export const repoPersonaAnswerSchema = z.object({
  /** Null: none; the usual order decides. */
  persona: z
    .object({ id: z.string().nullable(), slug: z.string(), name: z.string().nullable() })
    .nullable(),
});

export const repoListQuery = z.strictObject({
  /** Words that must all occur in name, description, language or topics. */
  q: z.string().max(200).optional(),
  enabled: z
    .enum(["true", "false"])
    .transform((word) => word === "true")
    .optional(),
  ...pageQuery,
});

export const repoSyncSchema = z.strictObject({
  /** An account or organisation of GitHub; left out: all repositories that the token's owner works on. */
  owner: z
    .string()
    .regex(/^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98}[A-Za-z0-9])?$/, "must be a GitHub account")
    .optional(),
  /** The secret with the token. */
  credential: secretName.default(GITHUB_TOKEN_SECRET),
  /** True if sessions may use newly found repositories. */
  enabled: z.boolean().default(true),
});
export type RepoSync = z.infer<typeof repoSyncSchema>;

export const repoSyncAnswerSchema = z.object({
  sync: z.object({
    /** `stopped`: the sync read only a part; it kept that part and marked nothing as missing. */
    state: z.enum(["complete", "stopped"]),
    stoppedBy: z.enum(["rate_limit", "time", "size"]).nullable(),
    /** Time to continue after a rate limit. */
    until: isoTime.nullable(),
    found: z.number().int(),
    added: z.number().int(),
    updated: z.number().int(),
    /** Newly marked as missing. */
    missing: z.number().int(),
    /** Found, but left unchanged; the first ones by name. */
    skipped: z.array(
      z.object({
        fullName: z.string(),
        /** `removed`: it was removed here; add it to have it again. */
        reason: z.enum(["removed", "other_provider", "invalid"]),
      }),
    ),
    skippedCount: z.number().int(),
  }),
});
export type RepoSyncResult = z.infer<typeof repoSyncAnswerSchema>["sync"];

const TAG = "Repositories";
const REPOS = "/api/orgs/{orgId}/repos";
const REPO = `${REPOS}/{repoId}` as const;
const oneRepo = z.object({ repo: repoSchema });

/** Builds PATCH and PUT of a repository: both change only the fields they name, and clients use either. */
function updateRoute<const Method extends "patch" | "put">(method: Method) {
  return apiRoute({
    method,
    path: REPO,
    summary: "Change the given fields of a repository (admins)",
    tag: TAG,
    body: repoChangeSchema,
    response: oneRepo,
  });
}

export const reposApi = {
  list: apiRoute({
    method: "get",
    path: REPOS,
    summary: "The organisation's repositories, by name",
    tag: TAG,
    query: repoListQuery,
    response: pageOf(repoSchema),
  }),
  create: apiRoute({
    method: "post",
    path: REPOS,
    summary: "Add a repository by its address, its path or its name on GitHub (admins)",
    tag: TAG,
    body: newRepoSchema,
    response: oneRepo,
    status: 201,
    takesIdempotencyKey: true,
  }),
  sync: apiRoute({
    method: "post",
    path: `${REPOS}/sync`,
    summary: "Add and update repositories from GitHub with a token from the secrets (admins)",
    tag: TAG,
    body: repoSyncSchema,
    response: repoSyncAnswerSchema,
  }),
  get: apiRoute({
    method: "get",
    path: REPO,
    summary: "One repository",
    tag: TAG,
    response: oneRepo,
  }),
  update: updateRoute("patch"),
  updateByPut: updateRoute("put"),
  delete: apiRoute({
    method: "delete",
    path: REPO,
    summary: "Remove a repository from the list; sessions that use it continue (admins)",
    tag: TAG,
    response: oneRepo,
  }),
  getPersona: apiRoute({
    method: "get",
    path: `${REPO}/persona`,
    summary: "The default persona of sessions on a repository",
    tag: TAG,
    response: repoPersonaAnswerSchema,
  }),
  setPersona: apiRoute({
    method: "put",
    path: `${REPO}/persona`,
    summary: "Set the default persona of sessions on a repository, or null for none (admins)",
    tag: TAG,
    body: repoPersonaSchema,
    response: repoPersonaAnswerSchema,
  }),
};
