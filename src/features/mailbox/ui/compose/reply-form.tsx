import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type KeyboardEvent, useRef, useState } from "react";
import type { MailMessage } from "#features/mailbox/contract.ts";
import { api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { InlineError } from "#surfaces/web/kit/field.tsx";
import { keepDraft, readDraft } from "#surfaces/web/kit/prompts/session-draft.ts";
import { randomId } from "#surfaces/web/kit/text/random-id.ts";
import { partyName } from "../message-words.ts";
import { refreshMessages, type Thread } from "../use-messages.ts";

/** Same limit as the server's. */
export const MAX_MESSAGE_CHARS = 32_000;

/** Replies to the thread's last message from somebody else. */
export function ReplyForm({ message }: { message: MailMessage }) {
  const queryClient = useQueryClient();
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState(() => readDraft(message.threadId));
  // The key makes a repeated request, sent after a lost answer, create the same message.
  const key = useRef(randomId());
  const write = (next: string) => {
    setText(next);
    keepDraft(message.threadId, next);
    key.current = randomId();
  };
  const send = useMutation({
    mutationFn: (content: string) =>
      api.mailbox.send(
        { body: { replyToId: message.id, content } },
        { idempotencyKey: key.current },
      ),
    onSuccess: ({ message: sent }) => {
      write("");
      queryClient.setQueryData<Thread>(
        keys.messageThread(message.threadId),
        (thread) =>
          thread && {
            ...thread,
            messages: [...thread.messages.filter(({ id }) => id !== sent.id), sent],
          },
      );
      field.current?.focus();
    },
    onSettled: () => refreshMessages(queryClient),
  });
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (text.trim() !== "" && !send.isPending) send.mutate(text);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) submit();
    if (event.key === "Escape") field.current?.blur();
  };
  const to = partyName(message.from);
  return (
    <form aria-label="Reply" className="space-y-2" onSubmit={submit}>
      <textarea
        ref={field}
        aria-label={`Reply to ${to}`}
        placeholder={`Reply to ${to}`}
        rows={3}
        maxLength={MAX_MESSAGE_CHARS}
        value={text}
        onChange={(event) => write(event.target.value)}
        onKeyDown={onKeyDown}
        className="block max-h-[40dvh] w-full resize-none rounded-xl border border-line-strong bg-raised px-3.5 py-2.5 outline-none [field-sizing:content] focus:border-accent focus:ring-2 focus:ring-accent/25 max-sm:text-base"
      />
      {send.isError && <InlineError>{messageOf(send.error)}</InlineError>}
      <div className="flex items-center justify-end gap-3">
        <span className="text-2xs text-ink-faint max-md:hidden">Ctrl+Enter to send</span>
        <Button type="submit" look="primary" disabled={text.trim() === "" || send.isPending}>
          {send.isPending ? "Sending…" : "Reply"}
        </Button>
      </div>
    </form>
  );
}
