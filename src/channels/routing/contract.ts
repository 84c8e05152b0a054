/** A prompt that names no session, and the session it was routed to. */
import * as z from "zod";
import { cleanText } from "#base/text/clean-text.ts";
import { apiRoute } from "#protocol/api-route.ts";
import { MAX_PROMPT_CHARS, promptSchema, QUEUE_MODES } from "#protocol/sessions.ts";

/** Channels of people. The platform's own prompts come from other channels, which nobody can name here. */
export const CHANNEL_TYPES = ["web", "api", "slack", "github", "telegram", "linear"] as const;
export type ChannelType = (typeof CHANNEL_TYPES)[number];

const MAX_METADATA_CHARS = 10_000;

const word = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[^\p{Cc}\u2028\u2029]*$/u, "must be one line")
    .refine((text) => cleanText(text) === text, "must not contain broken Unicode");

const routedPromptSchema = z.strictObject({
  content: z.string().min(1).max(MAX_PROMPT_CHARS),
  channelType: z.enum(CHANNEL_TYPES).optional(),
  /** Conversation in the channel: a session, `team:channel:thread`, `owner/name:pr:42`. */
  channelId: word(400).optional(),
  /** Scope key of the same conversation, when it is known. */
  scopeKey: word(500).optional(),
  metadata: z
    .record(z.string(), z.unknown())
    .refine(
      (value) => JSON.stringify(value).length <= MAX_METADATA_CHARS,
      `must have at most ${MAX_METADATA_CHARS} characters as JSON`,
    )
    .optional(),
  mode: z.enum(QUEUE_MODES).optional(),
});
export type RoutedPrompt = z.infer<typeof routedPromptSchema>;

export const routingApi = {
  prompt: apiRoute({
    method: "post",
    path: "/api/prompt",
    summary: "Send a prompt to the session its channel is bound to, otherwise to your orchestrator",
    tag: "Prompts",
    body: routedPromptSchema,
    status: 202,
    response: z.object({ prompt: promptSchema, session: z.object({ id: z.string() }) }),
    takesIdempotencyKey: true,
  }),
};
