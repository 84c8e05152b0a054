import { useMutation, useQuery } from "@tanstack/react-query";
import { Paperclip } from "lucide-react";
import { ROUTE_TABLE, routePath } from "#client/index.ts";
import type { Me } from "#features/auth/contract.ts";
import type { Entry, Prompt } from "#protocol/sessions.ts";
import { fetchFile } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { download } from "#surfaces/web/kit/download.ts";
import { sizeWords } from "#surfaces/web/kit/text/money-words.ts";
import { clockTime, fullTime } from "#surfaces/web/kit/text/time-words.ts";
import { useToasts } from "#surfaces/web/kit/toast.tsx";
import { ReceiptLine } from "../composer/receipt-line.tsx";
import { SessionLink } from "../session/session-link.tsx";

interface PromptRowProps {
  entry: Entry;
  isFollowed: boolean;
}

export function PromptRow({ entry, isFollowed }: PromptRowProps) {
  const me = useQuery<Me | null>({ queryKey: keys.me, enabled: false });
  const isMine = entry.author !== null && entry.author.id === me.data?.user.id;
  const name = isMine ? "You" : (entry.author?.name ?? "You");
  return (
    <article aria-label={`Prompt by ${name}`} className="flex flex-col items-end pt-4 pb-2">
      <p className="mb-1 flex items-baseline gap-2 px-1 text-xs">
        {entry.author?.kind === "session" ? (
          <SessionLink sessionId={entry.author.id} name={name} />
        ) : (
          <span className="font-semibold">{name}</span>
        )}
        <time
          dateTime={entry.at}
          title={fullTime(entry.at)}
          className="text-2xs text-ink-faint tabular-nums"
        >
          {clockTime(entry.at)}
        </time>
      </p>
      <div className="max-w-[92%] rounded-2xl rounded-tr-md bg-bubble px-3.5 py-2 text-[0.9375rem] leading-relaxed break-words whitespace-pre-wrap sm:max-w-[85%]">
        {entry.text}
      </div>
      {entry.promptId !== null && <Attachments promptId={entry.promptId} />}
      {entry.promptId !== null && <ReceiptLine promptId={entry.promptId} isFollowed={isFollowed} />}
    </article>
  );
}

/** Reads attachments from the cached prompt, which is loaded with the receipt. */
function Attachments({ promptId }: { promptId: string }) {
  const found = useQuery<{ prompt: Prompt }>({ queryKey: keys.prompt(promptId), enabled: false });
  const attachments = found.data?.prompt.attachments ?? [];
  const toasts = useToasts();
  const save = useMutation({
    mutationFn: async ({ name, sha256 }: { name: string; sha256: string }) =>
      download({
        name,
        blob: await fetchFile(routePath(ROUTE_TABLE.prompts.attachment, { id: promptId, sha256 })),
      }),
    onError: (error) => toasts.fail("Couldn't download the attachment", error),
  });
  if (attachments.length === 0) return null;
  return (
    <ul aria-label="Attachments" className="mt-1 flex max-w-[92%] flex-wrap justify-end gap-1.5">
      {attachments.map(({ name, size, sha256 }) => (
        <li key={`${sha256}:${name}`} className="min-w-0">
          <button
            type="button"
            onClick={() => save.mutate({ name, sha256 })}
            disabled={save.isPending}
            title={`Download ${name}`}
            className="flex h-7 items-center gap-1.5 rounded-lg border border-line bg-raised px-2 text-xs hover:bg-hover"
          >
            <Paperclip size={13} aria-hidden className="shrink-0 text-ink-faint" />
            <span className="truncate">{name}</span>
            <span className="shrink-0 text-2xs text-ink-faint">{sizeWords(size)}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
