import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { Archive, ArchiveRestore, Mail, MailOpen } from "lucide-react";
import { memo } from "react";
import { ago, clockTime, dayName, fullTime } from "#surfaces/web/kit/text/time-words.ts";
import { MessageContext, SenderLink } from "../message-context.tsx";
import { fateWords, lineOf, partyName } from "../message-words.ts";
import type { Box } from "./inbox-search.ts";
import { type MessageChange, type MessageThread, partnerOf } from "./message-threads.ts";
import { SnoozeMenu } from "./snooze-menu.tsx";
import { TypeMark } from "./type-mark.tsx";

export type OnChange = (thread: MessageThread, change: MessageChange, done?: string) => void;

interface ThreadRowProps {
  thread: MessageThread;
  box: Box;
  now: number;
  onChange: OnChange;
}

/** Shows one thread in the list by its newest message. The row links to the thread; actions are beside it. */
export const ThreadRow = memo(function ThreadRow({ thread, box, now, onChange }: ThreadRowProps) {
  const { newest, unread, messages } = thread;
  const isSent = box === "sent";
  const isUnread = unread > 0 && box === "inbox";
  const partner = partnerOf(newest, isSent);
  const name = `${isSent ? "To " : ""}${partyName(partner)}`;
  return (
    <li className="group relative flex gap-2.5 rounded-lg px-2.5 py-2 hover:bg-hover has-[a[data-status=active]]:bg-hover">
      <span
        aria-hidden
        className={clsx("mt-1.5 size-2 shrink-0 rounded-full", isUnread && "bg-accent")}
      />
      <TypeMark message={newest} className="mt-0.5" />
      <div className="min-w-0 flex-1">
        <div className="flex items-baseline gap-2">
          <Link
            to="/inbox/$threadId"
            params={{ threadId: thread.id }}
            search={true}
            data-message-row
            className={clsx(
              "min-w-0 truncate outline-none after:absolute after:inset-0 after:rounded-lg focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent",
              isUnread ? "font-semibold" : "font-medium",
            )}
          >
            {isUnread && <span className="sr-only">Unread: </span>}
            {name}
            {partner.handle !== null && (
              <span className="font-normal text-ink-faint"> @{partner.handle}</span>
            )}
          </Link>
          {!isSent && <SenderLink message={newest} />}
          <span className="flex-1" />
          {messages.length > 1 && (
            <span className="shrink-0 text-2xs text-ink-faint tabular-nums">
              <span className="sr-only">Messages: </span>
              {messages.length}
            </span>
          )}
          <When thread={thread} box={box} now={now} />
        </div>
        <p
          className={clsx(
            "line-clamp-2 text-xs [overflow-wrap:anywhere]",
            isUnread ? "font-medium text-ink" : "text-ink-soft",
          )}
        >
          {lineOf(newest)}
        </p>
        <div className="mt-0.5 empty:hidden">
          {isSent ? <Fate thread={thread} /> : <MessageContext message={newest} />}
        </div>
      </div>
      {!isSent && <RowActions thread={thread} box={box} name={name} onChange={onChange} />}
    </li>
  );
});

function When({ thread, box, now }: Pick<ThreadRowProps, "thread" | "box" | "now">) {
  const { snoozedUntil, createdAt } = thread.newest;
  const at = box === "snoozed" && snoozedUntil !== null ? snoozedUntil : createdAt;
  const words = at === createdAt ? ago(at, now) : `until ${dayName(at, now)} ${clockTime(at)}`;
  return (
    <time
      dateTime={at}
      title={fullTime(at)}
      className={clsx(
        "shrink-0 text-2xs text-ink-faint tabular-nums",
        // Actions take its place on hover.
        box !== "sent" && "md:group-hover:opacity-0",
      )}
    >
      {words}
    </time>
  );
}

function Fate({ thread }: { thread: MessageThread }) {
  const { newest } = thread;
  return (
    <p className={clsx("text-xs", newest.fate === "failed" ? "text-bad" : "text-ink-faint")}>
      {fateWords(newest)}
    </p>
  );
}

const ACTION_STYLE =
  "grid size-7 place-items-center rounded-md text-ink-soft hover:bg-line hover:text-ink data-[state=open]:bg-line";

/** Row actions for a pointer: keyboard and touch use the same actions at the top of the open thread. */
function RowActions({
  thread,
  box,
  name,
  onChange,
}: Pick<ThreadRowProps, "thread" | "box" | "onChange"> & { name: string }) {
  const isUnread = thread.unread > 0;
  return (
    <div className="absolute top-1 right-1.5 z-10 hidden rounded-lg bg-hover md:group-hover:flex has-[[data-state=open]]:flex">
      {box === "inbox" && (
        <button
          type="button"
          tabIndex={-1}
          aria-label={`Mark message from ${name} as ${isUnread ? "read" : "unread"}`}
          title={isUnread ? "Mark as read" : "Mark as unread"}
          className={ACTION_STYLE}
          onClick={() => onChange(thread, { read: isUnread })}
        >
          {isUnread ? <MailOpen size={16} aria-hidden /> : <Mail size={16} aria-hidden />}
        </button>
      )}
      {box !== "archived" && (
        <SnoozeMenu
          label={`Snooze message from ${name}`}
          className={ACTION_STYLE}
          tabIndex={-1}
          onSnooze={(snoozedUntil) => onChange(thread, { snoozedUntil }, "Snoozed")}
        />
      )}
      <ArchiveButton thread={thread} box={box} name={name} onChange={onChange} />
    </div>
  );
}

function ArchiveButton({
  thread,
  box,
  name,
  onChange,
}: Pick<ThreadRowProps, "thread" | "box" | "onChange"> & { name: string }) {
  const isArchived = box === "archived";
  return (
    <button
      type="button"
      tabIndex={-1}
      aria-label={
        isArchived ? `Move message from ${name} to inbox` : `Archive message from ${name}`
      }
      title={isArchived ? "Move to inbox" : "Archive"}
      className={ACTION_STYLE}
      onClick={() =>
        onChange(thread, { archived: !isArchived }, isArchived ? "Moved to inbox" : "Archived")
      }
    >
      {isArchived ? <ArchiveRestore size={16} aria-hidden /> : <Archive size={16} aria-hidden />}
    </button>
  );
}
