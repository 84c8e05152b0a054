import { useMutation, useQueryClient } from "@tanstack/react-query";
import { refreshMessages } from "#features/mailbox/ui/use-messages.ts";
import type { Session } from "#protocol/sessions.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { useToasts } from "#surfaces/web/kit/toast.tsx";

interface Retry {
  sessionId: string;
  /** Null if there is nothing to send again; then only the model is changed. */
  promptId: string | null;
  /** Undefined keeps the model; null means automatic. */
  model?: string | null;
}

/** Sends a failed prompt again, with another model if one was chosen. */
export function useRetry() {
  const queryClient = useQueryClient();
  const toasts = useToasts();
  return useMutation({
    mutationFn: async ({ sessionId, promptId, model }: Retry) => {
      if (model !== undefined) {
        const { session } = await api.sessions.update({ id: sessionId, body: { model } });
        queryClient.setQueryData<{ session: Session }>(keys.session(sessionId), { session });
      }
      if (promptId !== null) await api.prompts.retry({ id: promptId });
    },
    onSuccess: (_, { promptId }) => toasts.show(promptId === null ? "Model changed" : "Retrying"),
    onError: (error) => toasts.fail("Couldn't retry", error),
    onSettled: (_, __, { sessionId }) => {
      void queryClient.invalidateQueries({ queryKey: keys.queue(sessionId) });
      void queryClient.invalidateQueries({ queryKey: keys.session(sessionId) });
      void refreshMessages(queryClient);
    },
  });
}
