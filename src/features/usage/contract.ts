/** Usage on the wire, and its route. */
import * as z from "zod";
import { apiRoute } from "#protocol/api-route.ts";
import { pageQuery } from "#protocol/page.ts";

export const USAGE_GROUPS = ["session", "tree", "user", "model", "persona", "day"] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

const sums = {
  requests: z.number().int(),
  inputTokens: z.number().int(),
  cachedInputTokens: z.number().int(),
  outputTokens: z.number().int(),
  reasoningTokens: z.number().int(),
  /** Of what has a price, in millionths of a dollar; null when nothing of it has one. */
  costMicros: z.number().int().nullable(),
  /** Requests whose price is not known: the cost is at least what is shown. */
  unpricedRequests: z.number().int(),
  toolCalls: z.number().int(),
  turns: z.number().int(),
  modelMs: z.number().int(),
  toolMs: z.number().int(),
};

export const usageSumSchema = z.object(sums);
export type UsageSum = z.infer<typeof usageSumSchema>;

export const usageItemSchema = z
  .object({
    /** An id, a model, a persona or a day (UTC); empty when there is none. */
    key: z.string(),
    title: z.string().nullable(),
    ...sums,
  })
  .meta({ id: "Usage" });
export type UsageItem = z.infer<typeof usageItemSchema>;

export const usagePageSchema = z.object({
  items: z.array(usageItemSchema),
  next: z.string().nullable(),
  /** Of everything asked for, not of this page. */
  total: usageSumSchema,
});
export type UsagePage = z.infer<typeof usagePageSchema>;

const usageQuery = z.strictObject({
  by: z.enum(USAGE_GROUPS).default("session"),
  /** Of one session alone. */
  session: z.string().max(200).optional(),
  /** Days, both included. */
  from: z.iso.date().optional(),
  to: z.iso.date().optional(),
  ...pageQuery,
});
export type UsageQuery = z.infer<typeof usageQuery>;

export const usageApi = {
  list: apiRoute({
    method: "get",
    path: "/api/usage",
    summary: "Tokens, cost, time and tool calls: everybody's for admins, otherwise your own",
    tag: "Usage",
    query: usageQuery,
    response: usagePageSchema,
  }),
};
