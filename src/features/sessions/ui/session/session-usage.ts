import { useQuery } from "@tanstack/react-query";
import type { Session } from "#protocol/sessions.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { countWords, moneyWords, plural } from "#surfaces/web/kit/text/money-words.ts";

/** Tokens and cost of a session so far; undefined before its first model call. */
export function useSessionUsage(session: Session) {
  const found = useQuery({
    queryKey: keys.sessionUsage(session.id),
    queryFn: async ({ signal }) => {
      const page = await api.usage.list(
        { query: { by: "session", session: session.id } },
        { signal },
      );
      return page.items[0] ?? null;
    },
    enabled: session.counts.prompts > 0,
  });
  return found.data && found.data.requests > 0 ? found.data : undefined;
}

type SessionUsage = NonNullable<ReturnType<typeof useSessionUsage>>;

interface UsageWords {
  tokens: string;
  cost: string;
  long: string;
}

export function usageWords(session: Session, usage: SessionUsage): UsageWords {
  const tokens = usage.inputTokens + usage.outputTokens;
  const cost = moneyWords(session.cost);
  return {
    tokens: countWords(tokens),
    cost,
    long: [
      plural(usage.requests, "request"),
      `${plural(usage.inputTokens, "token")} in (${countWords(usage.cachedInputTokens)} cached)`,
      `${plural(usage.outputTokens, "token")} out`,
      plural(usage.toolCalls, "tool call"),
      cost,
    ].join(", "),
  };
}
