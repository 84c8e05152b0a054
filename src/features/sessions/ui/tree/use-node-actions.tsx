import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import { UNTITLED } from "#features/sessions/ui/list/untitled.ts";
import type { Session } from "#protocol/sessions.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Confirm } from "#surfaces/web/kit/dialog.tsx";
import { useToasts } from "#surfaces/web/kit/toast.tsx";
import { MessageDialog } from "./message-dialog.tsx";
import type { NodeAction } from "./node-actions.ts";

interface Change {
  run: (id: string) => Promise<unknown>;
  done: string;
  failed: string;
}

const CHANGES: Record<"stop" | "detach" | "end", Change> = {
  stop: {
    run: (id) => api.sessions.stop({ id }),
    done: "Stopping the turn",
    failed: "Couldn't stop the turn",
  },
  detach: {
    run: (id) => api.delegation.detach({ id }),
    done: "Detached. The session continues on its own",
    failed: "Couldn't detach the session",
  },
  end: {
    run: (id) => api.sessions.delete({ id, query: { force: "true" } }),
    done: "Session ended. It is kept for 7 days",
    failed: "Couldn't end the session",
  },
};

/** Runs menu actions, and returns the confirmation dialogs to render. */
export function useNodeActions() {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const toasts = useToasts();
  const [confirming, setConfirming] = useState<{ action: NodeAction; session: Session } | null>(
    null,
  );
  const change = useMutation({
    mutationFn: ({ kind, id }: { kind: keyof typeof CHANGES; id: string }) => CHANGES[kind].run(id),
    onSuccess: (_, { kind }) => toasts.show(CHANGES[kind].done),
    onError: (error, { kind }) => toasts.fail(CHANGES[kind].failed, error),
    onSettled: (_, __, { id }) => {
      void queryClient.invalidateQueries({ queryKey: keys.sessionLists });
      void queryClient.invalidateQueries({ queryKey: keys.session(id) });
      void queryClient.invalidateQueries({ queryKey: keys.allChildren });
    },
  });
  const { mutate } = change;
  const act = useCallback(
    (action: NodeAction, session: Session) => {
      const { id: sessionId, isOrchestrator } = session;
      if (action === "settings") void navigate({ to: "/settings/orchestrator", search: true });
      else if (action === "open" && isOrchestrator) void navigate({ to: "/", search: true });
      else if (action === "open")
        void navigate({ to: "/sessions/$sessionId", params: { sessionId }, search: true });
      else if (action === "stop") mutate({ kind: action, id: sessionId });
      else setConfirming({ action, session });
    },
    [navigate, mutate],
  );
  const close = () => setConfirming(null);
  const questions = (
    <>
      {confirming?.action === "message" && (
        <MessageDialog session={confirming.session} onClose={close} />
      )}
      <Confirm
        isOpen={confirming?.action === "detach"}
        onClose={close}
        title={`Detach “${confirming?.session.title ?? UNTITLED}”?`}
        text="It continues on its own. Its parent is notified once and receives nothing more from it. This cannot be undone."
        action="Detach"
        isBusy={change.isPending}
        onConfirm={() => {
          if (confirming) mutate({ kind: "detach", id: confirming.session.id });
          close();
        }}
      />
      <Confirm
        isOpen={confirming?.action === "end"}
        onClose={close}
        title={`End “${confirming?.session.title ?? UNTITLED}”?`}
        text="Its turn is stopped and its transcript is kept for 7 days. Its parent is notified, and its child sessions end too."
        action="End session"
        isBusy={change.isPending}
        onConfirm={() => {
          if (confirming) mutate({ kind: "end", id: confirming.session.id });
          close();
        }}
      />
    </>
  );
  return { act, questions };
}
