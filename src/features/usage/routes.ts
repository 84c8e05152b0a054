import * as z from "zod";
import type { Reader } from "#base/store/index.ts";
import { decodeCursor, encodeCursor } from "#engine/cursor.ts";
import { defineRoute, type Engine, type Route, requireMay } from "#engine/index.ts";
import { requireUser, type UserPrincipal } from "#features/policy/index.ts";
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from "#protocol/page.ts";
import {
  USAGE_GROUPS,
  type UsageGroup,
  type UsagePage,
  type UsageSum,
  usagePageSchema,
} from "./contract.ts";
import { listTitles, listUsage, listUserNames, sumUsage } from "./queries.ts";
import type { Amounts } from "./schema.ts";

const listQuery = z.strictObject({
  by: z.enum(USAGE_GROUPS).default("session"),
  /** Of one session alone. */
  session: z.string().max(200).optional(),
  /** Days, both included. */
  from: z.iso.date().optional(),
  to: z.iso.date().optional(),
  limit: z.coerce.number().int().min(1).max(PAGE_LIMIT_MAX).default(PAGE_LIMIT_DEFAULT),
  cursor: z.string().max(1_000).optional(),
});

export const usageRoutes: readonly Route[] = [
  defineRoute({
    method: "get",
    path: "/api/usage",
    summary: "Tokens, cost, time and tool calls: everybody's for admins, else your own",
    tag: "Usage",
    query: listQuery,
    response: usagePageSchema,
    async handle({ engine, principal, query }) {
      requireMay(principal, "usage.read");
      return readUsage(engine, requireUser(principal), query);
    },
  }),
];

async function readUsage(
  { store }: Engine,
  user: UserPrincipal,
  { by, session, from, to, limit, cursor }: z.infer<typeof listQuery>,
): Promise<UsagePage> {
  const list = `usage:${by}`;
  const after = decodeCursor(list, cursor)?.id;
  const filter = {
    orgId: user.orgId,
    userId: user.role === "admin" ? undefined : user.userId,
    sessionId: session,
    from,
    to,
  };
  return store.read(async (reader) => {
    const rows = await listUsage(reader, filter, by, after, limit + 1);
    const shown = rows.slice(0, limit);
    const keys = shown.map(({ key }) => key);
    const titles = await titlesOf(reader, user, by, keys);
    const last = keys.at(-1);
    return {
      items: shown.map((row) => ({
        key: row.key,
        title: titles.get(row.key) ?? null,
        ...sumView(row),
      })),
      next:
        rows.length > limit && last !== undefined ? encodeCursor(list, { at: 0, id: last }) : null,
      total: sumView(await sumUsage(reader, filter)),
    };
  });
}

async function titlesOf(
  reader: Reader,
  user: UserPrincipal,
  by: UsageGroup,
  keys: readonly string[],
): Promise<Map<string, string | null>> {
  if (by === "session" || by === "tree") return listTitles(reader, keys, user.userId);
  if (by === "user") return listUserNames(reader, user.orgId, keys);
  return new Map();
}

function sumView(row: Amounts): UsageSum {
  const hasPrice = row.requests > row.unpriced_requests || row.unpriced_requests === 0;
  return {
    requests: row.requests,
    inputTokens: row.input_tokens,
    cachedInputTokens: row.cached_input_tokens,
    outputTokens: row.output_tokens,
    reasoningTokens: row.reasoning_tokens,
    costMicros: hasPrice ? row.cost_micros : null,
    unpricedRequests: row.unpriced_requests,
    toolCalls: row.tool_calls,
    turns: row.turns,
    modelMs: row.model_ms,
    toolMs: row.tool_ms,
  };
}
