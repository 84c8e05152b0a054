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
  /** Cost of priced requests, in millionths of a dollar; null when none has a price. */
  costMicros: z.number().int().nullable(),
  /** Requests without a known price: the cost is at least the sum shown. */
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
  /** Sum over the whole query, not only this page. */
  total: usageSumSchema,
});
export type UsagePage = z.infer<typeof usagePageSchema>;

const usageQuery = z.strictObject({
  by: z.enum(USAGE_GROUPS).default("session"),
  /** Restricts the query to one session. */
  session: z.string().max(200).optional(),
  /** First and last day, both included. */
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
