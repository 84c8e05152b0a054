/** API contract of orchestrators: identity, state, preferences and routes. */
import * as z from "zod";
import { cleanText } from "#base/text/clean-text.ts";
import { apiRoute } from "#protocol/api-route.ts";
import { isoTime, pageOf } from "#protocol/page.ts";
import {
  ACTIVITIES,
  LIFECYCLES,
  QUEUE_MODES,
  SESSION_STATUSES,
  sessionSchema,
} from "#protocol/sessions.ts";
import { MAX_AVATAR_CHARS } from "./identity/avatar-limits.ts";
import { HANDLE, isPlatformName, MAX_HANDLE_CHARS } from "./identity/handles.ts";

export const STYLES = ["professional", "casual", "terse", "custom"] as const;
export type Style = (typeof STYLES)[number];

/** Rules for the people and agents that may write to an orchestrator. */
export const MAIL_RULES = ["none", "org", "list"] as const;
export type MailRule = (typeof MAIL_RULES)[number];

export const MAX_INSTRUCTION_CHARS = 20_000;
const MIN_IDLE_MS = 60_000;
const MAX_IDLE_MS = 30 * 24 * 60 * 60_000;

/**
 * Text for people on one line. Models read it too, so it must contain nothing that looks like a
 * line break.
 */
const line = (max: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .regex(/^[^\p{Cc}\u2028\u2029]*$/u, "must be one line")
    .refine((text) => cleanText(text) === text, "must not contain broken Unicode");

export const handleSchema = z
  .string()
  .trim()
  .max(MAX_HANDLE_CHARS + 1)
  // The @ is optional.
  .transform((handle) => handle.replace(/^@/, ""))
  .pipe(
    z
      .string()
      .regex(
        HANDLE,
        `must have 2 to ${MAX_HANDLE_CHARS} letters and digits, with single dashes between them`,
      ),
  );

const MAX_ADDRESS_CHARS = 2_000;
/** Checks the form only; images are checked when they are stored. */
function isAvatar(text: string): boolean {
  if (text.length <= 16 || text.startsWith("data:")) return true;
  return text.length <= MAX_ADDRESS_CHARS && /^(?:https:\/\/|\/api\/agents\/)\S+$/.test(text);
}

const model = z
  .string()
  .max(200)
  .regex(/^[\w.-]+\/[^\p{Cc}\s]+$/u, "must be provider/model, such as anthropic/claude-sonnet-5");

const identityFields = {
  name: line(80)
    .refine((text) => !/\p{Cf}/u.test(text), "must not contain invisible characters")
    .refine((text) => !isPlatformName(text), "must not be the name of the platform"),
  handle: handleSchema,
  avatar: line(MAX_AVATAR_CHARS)
    .refine(isAvatar, {
      error: "must be an emoji, an address that begins with https://, or a base64 data: URL",
    })
    .nullable()
    .describe(
      "An emoji, an https address, or an image as a base64 data: URL, which the server stores and serves at /api/agents/{userId}/avatar.",
    ),
  style: z.enum(STYLES),
  customInstructions: z.string().max(MAX_INSTRUCTION_CHARS).transform(cleanText).nullable(),
};
export const newOrchestratorSchema = z.strictObject(identityFields).partial();
export const identityChangeSchema = z
  .strictObject({ ...identityFields, acceptsAgentMail: z.enum(MAIL_RULES) })
  .partial();
export type IdentityChange = z.infer<typeof identityChangeSchema>;

/** Public part of an identity, for everybody in the organisation. */
export const agentSchema = z
  .object({
    userId: z.string(),
    name: z.string(),
    handle: z.string(),
    avatar: z.string().nullable(),
  })
  .meta({ id: "Agent" });
export type Agent = z.infer<typeof agentSchema>;

export const identitySchema = agentSchema
  .extend({
    /** Id of the owner, since everybody has one orchestrator. */
    id: z.string(),
    type: z.literal("personal"),
    style: z.enum(STYLES),
    customInstructions: z.string().nullable(),
    acceptsAgentMail: z.enum(MAIL_RULES),
    createdAt: isoTime,
    updatedAt: isoTime,
  })
  .meta({ id: "OrchestratorIdentity" });
export type Identity = z.infer<typeof identitySchema>;

/** Recovery of an ended orchestrator. `stopped` means that only a person brings it back. */
export const recoverySchema = z.object({
  state: z.enum(["recovering", "backoff", "stopped"]),
  nextAttemptAt: isoTime.nullable(),
});
export type Recovery = z.infer<typeof recoverySchema>;

export const orchestratorSchema = z.object({
  session: sessionSchema.nullable(),
  identity: identitySchema.nullable(),
  /** True if there is an identity but no session that could answer. */
  needsRestart: z.boolean(),
  /** Null while nothing has to be restored. */
  recovery: recoverySchema.nullable(),
});

export const startedSchema = z.object({
  session: sessionSchema,
  identity: identitySchema,
  /** True if the orchestrator existed and was left unchanged. */
  alreadyExists: z.boolean(),
});

export const handleAnswerSchema = z.object({
  available: z.boolean(),
  suggestion: z.string().optional(),
});

/** A person's preferences for their orchestrator; null takes the server's default. */
export const preferencesSchema = z
  .object({
    idleTimeoutMs: z.number().int().min(MIN_IDLE_MS).max(MAX_IDLE_MS).nullable(),
    queueMode: z.enum(QUEUE_MODES).nullable(),
    model: z.string().nullable(),
  })
  .meta({ id: "Preferences" });
export type Preferences = z.infer<typeof preferencesSchema>;
export const preferencesChangeSchema = z
  .strictObject({ ...preferencesSchema.shape, model: model.nullable() })
  .partial();
export type PreferencesChange = z.infer<typeof preferencesChangeSchema>;

/** Admin settings for all orchestrators; null lets everybody choose. */
export const orchestratorSettingsSchema = z
  .object({ model: z.string().nullable() })
  .meta({ id: "OrchestratorSettings" });
export const settingsChangeSchema = z.strictObject({ model: model.nullable() });

/** An admin's view of an orchestrator, without transcript content and custom instructions. */
export const overseenOrchestratorSchema = z
  .object({
    identity: identitySchema.omit({ customInstructions: true }),
    /** Null if the orchestrator was never started. */
    session: z
      .object({
        id: z.string(),
        lifecycle: z.enum(LIFECYCLES),
        activity: z.enum(ACTIVITIES),
        status: z.enum(SESSION_STATUSES),
        incarnation: z.number().int(),
        model: z.string().nullable(),
        /** Cost in micro-units; null if a part of it is unknown. */
        cost: z.number().int().nullable(),
        updatedAt: isoTime,
      })
      .nullable(),
    needsRestart: z.boolean(),
    recovery: recoverySchema.nullable(),
  })
  .meta({ id: "OverseenOrchestrator" });
export type OverseenOrchestrator = z.infer<typeof overseenOrchestratorSchema>;

const TAG = "Orchestrator";
const ORCHESTRATOR = "/api/me/orchestrator";
const IDENTITY = `${ORCHESTRATOR}/identity` as const;
const PREFERENCES = "/api/me/preferences";
const SETTINGS = "/api/orgs/{orgId}/orchestrator-settings";
const oneIdentity = z.object({ identity: identitySchema });

export const orchestratorsApi = {
  get: apiRoute({
    method: "get",
    path: ORCHESTRATOR,
    summary: "Your orchestrator: its session, its identity, and if it needs a restart",
    tag: TAG,
    response: orchestratorSchema,
  }),
  create: apiRoute({
    method: "post",
    path: ORCHESTRATOR,
    summary: "Create or restore your orchestrator; one that already runs is left unchanged (200)",
    tag: TAG,
    body: newOrchestratorSchema,
    status: 201,
    otherStatuses: [200],
    response: startedSchema,
  }),
  wake: apiRoute({
    method: "post",
    path: `${ORCHESTRATOR}/wake`,
    summary: "Wake your orchestrator; it is created or restored if necessary",
    tag: TAG,
    body: z.strictObject({}),
    response: startedSchema,
  }),
  restart: apiRoute({
    method: "post",
    path: `${ORCHESTRATOR}/restart`,
    summary:
      "Restart your orchestrator. A healthy one is left unchanged unless `force` is true: that stops its turns and starts afresh, and keeps its queue",
    tag: TAG,
    body: z.strictObject({ force: z.boolean().default(false) }),
    status: 201,
    otherStatuses: [200],
    response: startedSchema,
  }),
  getIdentity: apiRoute({
    method: "get",
    path: IDENTITY,
    summary: "The identity of your orchestrator",
    tag: TAG,
    response: oneIdentity,
  }),
  updateIdentity: apiRoute({
    method: "put",
    path: IDENTITY,
    summary:
      "Change the name, handle, avatar, style or instructions of your orchestrator, or which agents may write to it",
    tag: TAG,
    body: identityChangeSchema,
    response: oneIdentity,
  }),
  getAvatar: apiRoute({
    method: "get",
    path: "/api/agents/{userId}/avatar",
    summary: "The uploaded avatar image of a person's agent",
    tag: TAG,
    response: z.string(),
    mediaType: "image/*",
  }),
  checkHandle: apiRoute({
    method: "get",
    path: `${ORCHESTRATOR}/check-handle`,
    summary: "Check if a handle is available; the answer suggests a similar one if it is not",
    tag: TAG,
    query: z.strictObject({ handle: handleSchema }),
    response: handleAnswerSchema,
  }),
  getPreferences: apiRoute({
    method: "get",
    path: PREFERENCES,
    summary: "Your preferences for your orchestrator: idle timeout, queue mode and model",
    tag: TAG,
    response: preferencesSchema,
  }),
  updatePreferences: apiRoute({
    method: "patch",
    path: PREFERENCES,
    summary: "Change your preferences; the model only while no admin has set one for everybody",
    tag: TAG,
    body: preferencesChangeSchema,
    response: preferencesSchema,
  }),
  listAgents: apiRoute({
    method: "get",
    path: "/api/me/org-agents",
    summary: "The agents of your organisation, with their handles and names",
    tag: TAG,
    response: pageOf(agentSchema),
  }),
  listOrgAgents: apiRoute({
    method: "get",
    path: "/api/orgs/{orgId}/agents",
    summary: "The agents of the organisation, with their handles and names",
    tag: TAG,
    response: pageOf(agentSchema),
  }),
  oversee: apiRoute({
    method: "get",
    path: "/api/orgs/{orgId}/orchestrators",
    summary: "Everybody's orchestrators: state and cost, without content (admins)",
    tag: TAG,
    response: pageOf(overseenOrchestratorSchema),
  }),
  getSettings: apiRoute({
    method: "get",
    path: SETTINGS,
    summary: "The model set for all orchestrators; null lets everybody choose",
    tag: TAG,
    response: orchestratorSettingsSchema,
  }),
  updateSettings: apiRoute({
    method: "patch",
    path: SETTINGS,
    summary: "Set the model of all orchestrators, or null to let everybody choose (admins)",
    tag: TAG,
    body: settingsChangeSchema,
    response: orchestratorSettingsSchema,
  }),
};
