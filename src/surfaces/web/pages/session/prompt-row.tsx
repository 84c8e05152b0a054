import { useQuery } from "@tanstack/react-query";
import type { Entry } from "#protocol/sessions.ts";
import type { Me } from "#surfaces/web/kit/api.ts";
import { keys } from "#surfaces/web/kit/query-keys.ts";
import { clockTime, fullTime } from "#surfaces/web/kit/time-words.ts";
import { ReceiptLine } from "./receipt-line.tsx";

export function PromptRow({ entry }: { entry: Entry }) {
  const me = useQuery<Me | null>({ queryKey: keys.me, enabled: false });
  const isMine = entry.author !== null && entry.author.id === me.data?.user.id;
  const name = isMine ? "You" : (entry.author?.name ?? "You");
  return (
    <article aria-label={`Prompt by ${name}`} className="flex flex-col items-end pt-4 pb-2">
      <p className="mb-1 flex items-baseline gap-2 px-1 text-xs">
        <span className="font-semibold">{name}</span>
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
      {entry.promptId !== null && <ReceiptLine promptId={entry.promptId} />}
    </article>
  );
}
