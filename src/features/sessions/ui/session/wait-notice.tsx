import { useMutation, useQueryClient } from "@tanstack/react-query";
import { shareSession } from "#features/sessions/ui/list/use-session-lists.ts";
import type { Session } from "#protocol/sessions.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";
import { clockTime } from "#surfaces/web/kit/text/time-words.ts";
import { useToasts } from "#surfaces/web/kit/toast.tsx";

/** Shows in one sentence what the session waits for and until when, with the actions. */
export function WaitNotice({ session }: { session: Session }) {
  const { waitingFor } = session;
  // The header shows the number of children; a gate has a card of its own.
  if (!waitingFor || waitingFor.kind === "children" || waitingFor.kind === "plan") return null;
  const { kind, message, until } = waitingFor;
  return (
    <div
      role="status"
      aria-label="Waiting"
      data-waiting-for={kind}
      className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-warn-soft px-4 py-2 text-sm md:px-5"
    >
      <span className="min-w-0 flex-1">
        {revealLine(message)}
        {until !== null && ` It resumes at ${clockTime(until)}.`}
      </span>
      {kind === "machine" && <RelocateButton session={session} />}
    </div>
  );
}

function RelocateButton({ session }: { session: Session }) {
  const queryClient = useQueryClient();
  const toasts = useToasts();
  const relocate = useMutation({
    mutationFn: () => api.sessions.relocate({ id: session.id }),
    onSuccess: ({ session: moved }) => {
      shareSession(queryClient, moved);
      toasts.show(
        "Session moved to another machine",
        "Recorded changes were kept; everything else was left behind.",
      );
    },
    onError: (error) => toasts.fail("Couldn't move the session", error),
  });
  return (
    <Button size="small" disabled={relocate.isPending} onClick={() => relocate.mutate()}>
      Continue on another machine
    </Button>
  );
}
