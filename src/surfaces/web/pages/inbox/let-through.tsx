import { useMutation } from "@tanstack/react-query";
import { DoorOpen } from "lucide-react";
import { Button } from "#surfaces/web/kit/button.tsx";
import { inboxApi } from "#surfaces/web/kit/inbox-api.ts";
import { useToasts } from "#surfaces/web/kit/toast.tsx";

/** One click lets somebody else's request through to one's own agent, as an ordinary turn. */
export function LetThrough({ letterId }: { letterId: string }) {
  const toasts = useToasts();
  const send = useMutation({
    mutationFn: () => inboxApi.letThrough(letterId),
    onSuccess: () =>
      toasts.say("Let through", "Your agent works on it as if you had asked for it."),
    onError: (error) => toasts.fail("The request was not let through", error),
  });
  return (
    <Button
      size="small"
      disabled={send.isPending || send.isSuccess}
      title="Your agent may then do for this request what it may do for you"
      onClick={() => send.mutate()}
    >
      <DoorOpen size={14} aria-hidden />
      {send.isSuccess ? "Let through" : "Let this request through"}
    </Button>
  );
}
