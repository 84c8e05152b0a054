import { useQuery } from "@tanstack/react-query";
import type { SessionEvent } from "#protocol/events.ts";
import type { Session } from "#protocol/sessions.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { plural } from "#surfaces/web/kit/text/money-words.ts";

/** Returns the chosen model, or the model that answered if the choice is automatic. */
export function useSessionModel(session: Session): string | null {
  const isAutomatic = session.model === null;
  // Set by the live feed.
  const last = useQuery<string | null>({ queryKey: keys.lastModel(session.id), enabled: false });
  const used = useQuery({
    queryKey: keys.sessionModels(session.id),
    queryFn: async ({ signal }) => {
      const page = await api.usage.list(
        { query: { by: "model", session: session.id } },
        { signal },
      );
      return page.items.flatMap(({ key, requests }) => (requests > 0 && key !== "" ? [key] : []));
    },
    enabled: isAutomatic && session.counts.prompts > 0,
  });
  return session.model ?? last.data ?? modelWords(used.data ?? []);
}

/**
 * Names the agent in its transcript: by its own name, its persona or its model. Runtimes other than
 * the native one are agents of their own and go by their name.
 */
export function speakerOf(
  { agentName, persona, runtime }: Pick<Session, "agentName" | "persona" | "runtime">,
  model: string | null,
): string {
  const own = agentName ?? persona;
  if (own !== null) return own;
  if (model?.includes("/")) return model.slice(model.indexOf("/") + 1);
  return runtime === "native" ? "Agent" : runtime;
}

/** Counts the models when several were used: the usage does not say which was the last. */
function modelWords(used: readonly string[]): string | null {
  return used.length > 1 ? plural(used.length, "model") : (used[0] ?? null);
}

export function lastModelIn(events: readonly SessionEvent[]): string | undefined {
  const call = events.findLast(({ type }) => type === "model_call");
  return typeof call?.data?.model === "string" ? call.data.model : undefined;
}
