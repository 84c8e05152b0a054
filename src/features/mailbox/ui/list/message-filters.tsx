import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { X } from "lucide-react";
import type { MessageType } from "#features/mailbox/contract.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { partyName, TYPES } from "../message-words.ts";
import { BOXES, type Box, type InboxSearch, isFiltered, type Sender } from "./inbox-search.ts";
import { type MessagePages, sendersOf } from "./message-threads.ts";

const CHOICE =
  "h-7 min-w-0 rounded-lg border border-line bg-raised px-1.5 text-xs text-ink-soft max-md:h-9 max-md:text-base";

/** Shows the boxes and the filters of the open one. */
export function MessageFilters({ search }: { search: InboxSearch }) {
  const navigate = useNavigate();
  const box = search.box ?? "inbox";
  const go = (change: { [K in keyof InboxSearch]?: InboxSearch[K] | undefined }) =>
    void navigate({
      to: ".",
      search: (before: object) => ({ ...before, ...change }) as never,
      replace: true,
    });
  return (
    <div className="shrink-0 space-y-2 border-b border-line px-3 py-2">
      <nav aria-label="Folders" className="flex gap-1">
        {(Object.keys(BOXES) as Box[]).map((one) => (
          <Link
            key={one}
            to="/inbox"
            search={(before: object) =>
              ({
                ...before,
                box: one === "inbox" ? undefined : one,
                unread: undefined,
                type: undefined,
                from: undefined,
                about: undefined,
              }) as never
            }
            activeOptions={{ explicitUndefined: true }}
            aria-current={one === box ? "page" : undefined}
            className="min-w-0 flex-1 truncate rounded-md px-2 py-1 text-center text-xs font-medium text-ink-soft hover:bg-hover hover:text-ink aria-[current]:bg-hover aria-[current]:text-ink max-md:py-2"
          >
            {BOXES[one]}
          </Link>
        ))}
      </nav>
      <div className="flex items-center gap-1.5">
        <select
          aria-label="Type"
          value={search.type ?? ""}
          onChange={({ target }) =>
            go({ type: target.value === "" ? undefined : (target.value as MessageType) })
          }
          className={CHOICE}
        >
          <option value="">All types</option>
          {Object.entries(TYPES).map(([type, words]) => (
            <option key={type} value={type}>
              {words}
            </option>
          ))}
        </select>
        {box !== "sent" && <SenderChoice from={search.from} onChange={(from) => go({ from })} />}
        {box === "inbox" && (
          <label className="flex h-7 shrink-0 cursor-pointer items-center gap-1.5 px-1 text-xs text-ink-soft max-md:h-9">
            <input
              type="checkbox"
              checked={search.unread === true}
              onChange={({ target }) => go({ unread: target.checked ? true : undefined })}
              className="size-4 accent-accent"
            />
            Unread
          </label>
        )}
        {search.about !== undefined && (
          <span className="min-w-0 truncate text-xs text-ink-soft">Filtered by subject</span>
        )}
        {isFiltered(search) && (
          <button
            type="button"
            aria-label="Clear filters"
            title="Clear filters"
            onClick={() =>
              go({ type: undefined, from: undefined, unread: undefined, about: undefined })
            }
            className="ml-auto grid size-7 shrink-0 place-items-center rounded-md text-ink-faint hover:bg-hover hover:text-ink"
          >
            <X size={15} aria-hidden />
          </button>
        )}
      </div>
    </div>
  );
}

interface SenderChoiceProps {
  from: Sender | undefined;
  onChange: (from: Sender | undefined) => void;
}

/** Offers the senders of the messages loaded so far. */
function SenderChoice({ from, onChange }: SenderChoiceProps) {
  const queryClient = useQueryClient();
  const lists = queryClient.getQueriesData<MessagePages>({ queryKey: keys.messageLists });
  const senders = sendersOf(lists.map(([, list]) => list));
  const isListed = senders.some(({ kind, id }) => `${kind}:${id}` === from);
  return (
    <select
      aria-label="From"
      value={from ?? ""}
      onChange={({ target }) =>
        onChange(target.value === "" ? undefined : (target.value as Sender))
      }
      className={`${CHOICE} flex-1`}
    >
      <option value="">From anyone</option>
      {senders.map((sender) => (
        <option key={sender.id} value={`${sender.kind}:${sender.id}`}>
          {partyName(sender)}
        </option>
      ))}
      {from !== undefined && !isListed && <option value={from}>Selected sender</option>}
    </select>
  );
}
