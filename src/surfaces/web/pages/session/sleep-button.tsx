import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Moon, Sun } from "lucide-react";
import type { Session } from "#protocol/sessions.ts";
import { api } from "#surfaces/web/kit/api.ts";
import { IconButton } from "#surfaces/web/kit/button.tsx";
import { useToasts } from "#surfaces/web/kit/toast.tsx";
import { shareSession } from "#surfaces/web/pages/sessions/use-session-lists.ts";

/** Puts a session to sleep, or wakes it. A session at work is not offered either. */
export function SleepButton({ session }: { session: Session }) {
  const queryClient = useQueryClient();
  const toasts = useToasts();
  const isAsleep = session.lifecycle === "hibernated";
  const change = useMutation({
    mutationFn: () => (isAsleep ? api.wakeSession(session.id) : api.hibernateSession(session.id)),
    onSuccess: ({ session: changed }) => shareSession(queryClient, changed),
    onError: (error) =>
      toasts.fail(isAsleep ? "The session was not woken" : "The session is still awake", error),
  });
  const mayChange = isAsleep || isAtRest(session);
  if (!mayChange) return null;
  return (
    <IconButton
      label={isAsleep ? "Wake session" : "Put session to sleep"}
      className="max-sm:hidden"
      disabled={change.isPending}
      onClick={() => change.mutate()}
    >
      {isAsleep ? <Sun size={17} aria-hidden /> : <Moon size={17} aria-hidden />}
    </IconButton>
  );
}

function isAtRest({ activity, isOrchestrator }: Session): boolean {
  return !isOrchestrator && (activity === "done" || activity === "idle" || activity === "failed");
}
