import type { Reader } from "#base/store/index.ts";
import { type Engine, type Route, requireMay, serve } from "#engine/index.ts";
import { decodeCursor, encodeCursor } from "#engine/requests/index.ts";
import { requireUser, type UserPrincipal } from "#features/policy/index.ts";
import {
  type UsageGroup,
  type UsagePage,
  type UsageQuery,
  type UsageSum,
  usageApi,
} from "./contract.ts";
import { listTitles, listUsage, listUserNames, sumUsage } from "./queries.ts";
import type { Amounts } from "./schema.ts";

export const usageRoutes: readonly Route[] = [
  serve(usageApi.list, async ({ engine, principal, query }) => {
    requireMay(principal, "usage.read");
    return readUsage(engine, requireUser(principal), query);
  }),
];

async function readUsage(
  { store }: Engine,
  user: UserPrincipal,
  { by, session, from, to, limit, cursor }: UsageQuery,
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
