/** Orchestrators on the wire: who they are, how they are, and how their people want them. */
import * as z from "zod";
import { cleanText } from "#base/text/clean-text.ts";
import { isoTime } from "#protocol/page.ts";
import {
  ACTIVITIES,
  LIFECYCLES,
  QUEUE_MODES,
  SESSION_STATUSES,
  sessionSchema,
} from "#protocol/sessions.ts";
import { MAX_AVATAR_CHARS } from "./avatar-limits.ts";
import { HANDLE, isPlatformName, MAX_HANDLE_CHARS } from "./handles.ts";

export const STYLES = ["professional", "casual", "terse", "custom"] as const;
export type Style = (typeof STYLES)[number];

/** Whose agents may write to it. */
export const MAIL_RULES = ["none", "org", "list"] as const;
export type MailRule = (typeof MAIL_RULES)[number];

export const MAX_INSTRUCTION_CHARS = 20_000;
const MIN_IDLE_MS = 60_000;
const MAX_IDLE_MS = 30 * 24 * 60 * 60_000;

/** For people, on one line; it is also read by models, so nothing in it can look like a new line. */
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
  // Written with the sign or without.
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
/** The form only; images are looked at when they are stored. */
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
    .refine((text) => !/\p{Cf}/u.test(text), "must not contain characters that are not seen")
    .refine((text) => !isPlatformName(text), "must not be the name of the platform"),
  handle: handleSchema,
  avatar: line(MAX_AVATAR_CHARS)
    .refine(isAvatar, {
      error: "must be an emoji, an address that begins with https://, or a base64 data: URL",
    })
    .nullable()
    .describe(
      "An emoji, an https address, or an image as a base64 data: URL, which the server keeps and shows at /api/agents/{userId}/avatar.",
    ),
  style: z.enum(STYLES),
  customInstructions: z.string().max(MAX_INSTRUCTION_CHARS).transform(cleanText).nullable(),
};
export const newOrchestratorSchema = z.strictObject(identityFields).partial();
export const identityChangeSchema = z
  .strictObject({ ...identityFields, acceptsAgentMail: z.enum(MAIL_RULES) })
  .partial();
export type IdentityChange = z.infer<typeof identityChangeSchema>;

/** What everybody in the org may know. */
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
    /** The id of its person: everybody has one. */
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

/** How an orchestrator that has ended comes back by itself; stopped: only a person brings it back. */
export const recoverySchema = z.object({
  state: z.enum(["recovering", "backoff", "stopped"]),
  nextAttemptAt: isoTime.nullable(),
});
export type Recovery = z.infer<typeof recoverySchema>;

export const orchestratorSchema = z.object({
  session: sessionSchema.nullable(),
  identity: identitySchema.nullable(),
  /** It has an identity, and no session that could answer. */
  needsRestart: z.boolean(),
  /** Null while nothing has to be brought back. */
  recovery: recoverySchema.nullable(),
});

export const startedSchema = z.object({
  session: sessionSchema,
  identity: identitySchema,
  /** There was one already, and nothing was changed. */
  alreadyExists: z.boolean(),
});

export const handleAnswerSchema = z.object({
  available: z.boolean(),
  suggestion: z.string().optional(),
});

/** How a person wants their orchestrator; null: as the server has it. */
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

/** What admins settle for all orchestrators; null: everybody chooses. */
export const orchestratorSettingsSchema = z
  .object({ model: z.string().nullable() })
  .meta({ id: "OrchestratorSettings" });
export const settingsChangeSchema = z.strictObject({ model: model.nullable() });

/** What admins see of everybody's: nothing that was said, or written for it to read. */
export const overseenOrchestratorSchema = z
  .object({
    identity: identitySchema.omit({ customInstructions: true }),
    /** Null while it was never started. */
    session: z
      .object({
        id: z.string(),
        lifecycle: z.enum(LIFECYCLES),
        activity: z.enum(ACTIVITIES),
        status: z.enum(SESSION_STATUSES),
        incarnation: z.number().int(),
        model: z.string().nullable(),
        /** In micro-units; null when a part of it is not known. */
        cost: z.number().int().nullable(),
        updatedAt: isoTime,
      })
      .nullable(),
    needsRestart: z.boolean(),
    recovery: recoverySchema.nullable(),
  })
  .meta({ id: "OverseenOrchestrator" });
export type OverseenOrchestrator = z.infer<typeof overseenOrchestratorSchema>;
