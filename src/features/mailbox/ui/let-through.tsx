import { useMutation, useQueryClient } from "@tanstack/react-query";
import { DoorOpen } from "lucide-react";
import type { MailMessage } from "#features/mailbox/contract.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { clockTime, dayName, fullTime } from "#surfaces/web/kit/text/time-words.ts";
import { useToasts } from "#surfaces/web/kit/toast.tsx";
import { refreshMessages } from "./use-messages.ts";

/** Lets somebody else's request through to one's own agent; afterwards shows when that was done. */
export function LetThrough({ message, now }: { message: MailMessage; now: number }) {
  const { id, letThroughAt, mayLetThrough } = message;
  const queryClient = useQueryClient();
  const toasts = useToasts();
  const send = useMutation({
    mutationFn: () => api.mailbox.letThrough({ id }),
    onSuccess: () => {
      toasts.show("Request let through", "Your agent works on it as if you had sent it.");
      return refreshMessages(queryClient);
    },
    onError: (error) => toasts.fail("Could not let the request through", error),
  });
  if (letThroughAt !== null)
    return (
      <p className="flex items-center gap-1.5 text-xs text-ink-faint">
        <DoorOpen size={13} aria-hidden className="shrink-0" />
        <span>
          You let this request through:{" "}
          <time dateTime={letThroughAt} title={fullTime(letThroughAt)}>
            {dayName(letThroughAt, now)} {clockTime(letThroughAt)}
          </time>
        </span>
      </p>
    );
  if (!mayLetThrough) return null;
  return (
    <Button
      size="small"
      disabled={send.isPending}
      title="Your agent works on this request with its usual permissions"
      onClick={() => send.mutate()}
    >
      <DoorOpen size={14} aria-hidden />
      Let this request through
    </Button>
  );
}
