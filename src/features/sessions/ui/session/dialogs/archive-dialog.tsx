import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Session } from "#protocol/sessions.ts";
import { ApiError, api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Confirm } from "#surfaces/web/kit/dialog.tsx";
import { useToasts } from "#surfaces/web/kit/toast.tsx";

interface ArchiveDialogProps {
  session: Session;
  hasChildren?: boolean;
  isOpen: boolean;
  onClose: () => void;
}

/** Asks for confirmation; if the session is busy, asks if it should be stopped too. */
export function ArchiveDialog({
  session,
  hasChildren = false,
  isOpen,
  onClose,
}: ArchiveDialogProps) {
  const [detaches, setDetaches] = useState(false);
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const toasts = useToasts();
  const archive = useMutation({
    mutationFn: (force: boolean) =>
      api.sessions.delete({
        id: session.id,
        query: { ...(force && { force: "true" }), ...(detaches && { children: "detach" }) },
      }),
    onSuccess: async () => {
      onClose();
      toasts.show("Session archived", "It is kept for 7 days.");
      await navigate({ to: "/", search: true });
      void queryClient.invalidateQueries({ queryKey: keys.sessionLists });
      queryClient.removeQueries({ queryKey: keys.session(session.id) });
    },
    onError: (error) => {
      if (!isBusyError(error)) toasts.fail("Couldn't archive the session", error);
    },
  });
  const mustStop = session.activity === "working" || isBusyError(archive.error);
  const close = () => {
    archive.reset();
    onClose();
  };
  return (
    <Confirm
      isOpen={isOpen}
      onClose={close}
      title={mustStop ? "Stop and archive this session?" : "Archive this session?"}
      text={
        <>
          {mustStop
            ? "The running turn is stopped and its output so far is kept. Queued prompts will not run."
            : "It accepts no more prompts and leaves the list. It is kept for 7 days."}
          {hasChildren && (
            <label className="mt-2 flex items-center gap-2">
              <input
                type="checkbox"
                checked={detaches}
                onChange={(event) => setDetaches(event.target.checked)}
              />
              Keep its workers running instead of archiving them too
            </label>
          )}
        </>
      }
      action={mustStop ? "Stop and archive" : "Archive"}
      isBusy={archive.isPending}
      onConfirm={() => archive.mutate(mustStop)}
    />
  );
}

function isBusyError(error: unknown): boolean {
  return error instanceof ApiError && error.code === "session_busy";
}
