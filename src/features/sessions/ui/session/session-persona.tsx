import { useMutation, useQueryClient } from "@tanstack/react-query";
import { RefreshCw } from "lucide-react";
import type { Session } from "#protocol/sessions.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { useToasts } from "#surfaces/web/kit/toast.tsx";

interface SessionPersonaProps {
  sessionId: string;
  persona: NonNullable<Session["persona"]>;
  mayRefresh: boolean;
}

/** Shows the session's persona; a newer version is applied only on request. */
export function SessionPersona({ sessionId, persona, mayRefresh }: SessionPersonaProps) {
  const queryClient = useQueryClient();
  const toasts = useToasts();
  const refresh = useMutation({
    mutationFn: () => api.briefing.refreshPersona({ id: sessionId }),
    onSuccess: (now) =>
      toasts.show(`${now.persona} updated to version ${now.version}`, "Used from the next turn."),
    onError: (error) => toasts.fail("Couldn't update the persona", error),
    onSettled: () => queryClient.invalidateQueries({ queryKey: keys.session(sessionId) }),
  });
  const label = `Update persona ${persona}`;
  return (
    <>
      <span className="max-w-20 truncate @max-[14rem]:hidden @lg:max-w-48">{persona}</span>
      {mayRefresh && (
        <button
          type="button"
          aria-label={label}
          title={`${label}to its newest version`}
          disabled={refresh.isPending}
          onClick={() => refresh.mutate()}
          className="grid size-6 shrink-0 place-items-center rounded-md hover:bg-hover hover:text-ink disabled:opacity-45"
        >
          <RefreshCw size={12} aria-hidden />
        </button>
      )}
    </>
  );
}
