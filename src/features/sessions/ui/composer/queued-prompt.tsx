import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ArrowUpToLine, Bell, Pencil, X } from "lucide-react";
import { useState } from "react";
import { noticeLine, type ShownNotice, shownNotice } from "#protocol/notices/notice-words.ts";
import type { Page } from "#protocol/page.ts";
import type { Prompt } from "#protocol/sessions.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Button, IconButton } from "#surfaces/web/kit/button.tsx";
import { focusOnMount } from "#surfaces/web/kit/hooks/focus-on-mount.ts";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";
import { useToasts } from "#surfaces/web/kit/toast.tsx";
import { placePrompt } from "./queue.ts";
import { receiptOf } from "./receipt.ts";

/** Shows a queued prompt. Notices cannot be edited or withdrawn: the session would never receive them. */
export function QueuedPrompt({ prompt }: { prompt: Prompt }) {
  const notice = shownNotice(prompt.notice);
  return notice ? <QueuedNotice prompt={prompt} notice={notice} /> : <QueuedText prompt={prompt} />;
}

function QueuedNotice({ prompt, notice }: { prompt: Prompt; notice: ShownNotice }) {
  return (
    <li className="flex items-start gap-2 py-1.5 pr-3 pl-3">
      <Bell size={14} aria-hidden className="mt-0.5 shrink-0 text-ink-faint" />
      <div className="min-w-0 flex-1">
        <p className="line-clamp-2 break-words">{revealLine(noticeLine(notice))}</p>
        <p className="text-2xs text-ink-faint">{receiptOf(prompt).summary}</p>
      </div>
    </li>
  );
}

function QueuedText({ prompt }: { prompt: Prompt }) {
  const [text, setText] = useState<string | null>(null);
  const withdraw = useQueueChange(prompt.sessionId, "Couldn't withdraw the prompt", () =>
    api.prompts.withdraw({ id: prompt.id }),
  );
  const promote = useQueueChange(prompt.sessionId, "Couldn't send the prompt now", () =>
    api.prompts.promote({ id: prompt.id }),
  );
  const edit = useQueueChange(prompt.sessionId, "Couldn't edit the prompt", (content: string) =>
    api.prompts.update({ id: prompt.id, body: { content } }),
  );
  if (text !== null) {
    const save = () => edit.mutate(text, { onSuccess: () => setText(null) });
    return (
      <li className="p-2">
        <textarea
          aria-label="Edit the queued prompt"
          ref={focusOnMount}
          rows={3}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") setText(null);
            if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) save();
          }}
          className="w-full resize-y rounded-lg border border-line-strong bg-page px-2.5 py-1.5 outline-none focus:border-accent max-sm:text-base"
        />
        <div className="mt-1 flex justify-end gap-1.5">
          <Button size="small" look="ghost" onClick={() => setText(null)}>
            Cancel
          </Button>
          <Button
            size="small"
            look="primary"
            disabled={edit.isPending || text.trim() === ""}
            onClick={save}
          >
            Save
          </Button>
        </div>
      </li>
    );
  }
  const isBusy = withdraw.isPending || promote.isPending;
  return (
    <li className="flex items-center gap-1 py-1.5 pr-1.5 pl-3">
      <div className="min-w-0 flex-1">
        <p className="line-clamp-2 break-words">{prompt.content}</p>
        <p className="text-2xs text-ink-faint">{receiptOf(prompt).summary}</p>
      </div>
      <IconButton
        size="small"
        label="Send now"
        disabled={isBusy}
        onClick={() => promote.mutate("")}
      >
        <ArrowUpToLine size={15} aria-hidden />
      </IconButton>
      <IconButton
        size="small"
        label="Edit prompt"
        disabled={isBusy}
        onClick={() => setText(prompt.content)}
      >
        <Pencil size={14} aria-hidden />
      </IconButton>
      <IconButton
        size="small"
        label="Withdraw prompt"
        disabled={isBusy}
        onClick={() => withdraw.mutate("")}
      >
        <X size={16} aria-hidden />
      </IconButton>
    </li>
  );
}

/** Changes the queue: shows the server's answer at once, and refreshes the queue in any case. */
function useQueueChange(
  sessionId: string,
  whenRefused: string,
  run: (text: string) => Promise<unknown>,
) {
  const queryClient = useQueryClient();
  const toasts = useToasts();
  return useMutation({
    mutationFn: run,
    onSuccess: (answer) => {
      const prompt = (answer as { prompt?: Prompt } | null)?.prompt;
      if (prompt === undefined) return;
      queryClient.setQueryData(keys.prompt(prompt.id), { prompt });
      queryClient.setQueryData<Page<Prompt>>(
        keys.queue(sessionId),
        (page) => page && placePrompt(page, prompt),
      );
    },
    onError: (error) => toasts.fail(whenRefused, error),
    onSettled: () => queryClient.invalidateQueries({ queryKey: keys.queue(sessionId) }),
  });
}
