import { ChevronRight } from "lucide-react";
import { useState } from "react";
import type { InboxItem } from "#features/delegation/contract.ts";
import { clockTime, fullTime } from "#surfaces/web/kit/text/time-words.ts";
import { eventText, eventWords } from "./event-words.ts";
import { Pill } from "./pill.tsx";
import { useInbox } from "./use-orchestration.ts";

/** Lists the supervisor's notices, delivered and pending, newest first. */
export function InboxHistory({ sessionId }: { sessionId: string }) {
  const [isOpen, setIsOpen] = useState(false);
  const items = useInbox(sessionId).data?.items ?? [];
  if (items.length === 0) return null;
  return (
    <div className="mt-1 border-t border-line pt-1.5">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
        className="flex h-8 items-center gap-1 rounded-md text-xs font-medium text-ink-soft hover:text-ink"
      >
        <ChevronRight
          size={14}
          aria-hidden
          className={isOpen ? "rotate-90 transition-transform" : "transition-transform"}
        />
        Inbox · {items.length}
      </button>
      {isOpen && (
        <ul aria-label="Inbox" className="divide-y divide-line">
          {items.map((item) => (
            <Event key={item.id} item={item} />
          ))}
        </ul>
      )}
    </div>
  );
}

/** Shows a worker's text as plain text. */
function Event({ item }: { item: InboxItem }) {
  const { label, tone } = eventWords(item);
  const text = eventText(item);
  return (
    <li className="py-2">
      <div className="flex min-w-0 items-center gap-2">
        <Pill tone={tone} className="w-[4.75rem] text-center">
          {label}
        </Pill>
        <span className="min-w-0 flex-1 truncate font-medium">{item.workerName}</span>
        {!item.delivered && <Pill tone="warn">pending</Pill>}
        <time dateTime={item.at} title={fullTime(item.at)} className="text-xs text-ink-faint">
          {clockTime(item.at)}
        </time>
      </div>
      {text !== "" && (
        <p className="mt-1 line-clamp-3 text-xs break-words whitespace-pre-wrap text-ink-soft">
          {text}
        </p>
      )}
    </li>
  );
}
