import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { Archive, ArchiveRestore, ArrowLeft, Inbox, Mail } from "lucide-react";
import { useEffect, useLayoutEffect, useMemo, useRef } from "react";
import type { MailMessage } from "#features/mailbox/contract.ts";
import { ApiError, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { Button, IconButton } from "#surfaces/web/kit/button.tsx";
import { useMe } from "#surfaces/web/kit/hooks/use-me.ts";
import { useNow } from "#surfaces/web/kit/hooks/use-now.ts";
import { useShortcut } from "#surfaces/web/kit/hooks/use-shortcut.ts";
import { PageMessage } from "#surfaces/web/kit/page-message.tsx";
import { ReplyForm } from "./compose/reply-form.tsx";
import type { MessageChange } from "./list/message-threads.ts";
import { focusRow } from "./list/row-focus.ts";
import { SnoozeMenu } from "./list/snooze-menu.tsx";
import { useInboxSearch } from "./list/use-inbox-search.ts";
import { MessageCard } from "./message-card.tsx";
import { useIsPending } from "./message-gate.tsx";
import { gateOf, partyName } from "./message-words.ts";
import { type Thread, useMessageChange, useThread } from "./use-messages.ts";

/** Shows one thread beside the list; on a phone it has a screen of its own. */
export function ThreadView() {
  const { threadId } = useParams({ from: "/app/inbox/$threadId" });
  const found = useThread(threadId);
  if (found.data) return <OpenThread key={threadId} threadId={threadId} thread={found.data} />;
  if (!found.isError) return <div role="status" aria-label="Loading messages" className="h-full" />;
  const isMissing = found.error instanceof ApiError && found.error.status === 404;
  return (
    <PageMessage isPart title={isMissing ? "Message not found" : "Could not load the messages"}>
      <p>{isMissing ? "It was deleted, or it was not sent to you." : messageOf(found.error)}</p>
      <div className="mt-4 flex justify-center gap-2">
        {!isMissing && <Button onClick={() => void found.refetch()}>Try again</Button>}
        <Link to="/inbox" search={true} className="px-3 py-2 text-accent underline">
          Go to inbox
        </Link>
      </div>
    </PageMessage>
  );
}

function OpenThread({ threadId, thread }: { threadId: string; thread: Thread }) {
  const { messages } = thread;
  const myId = useMe()?.user.id ?? "";
  const now = useNow(60_000);
  const toMe = messages.filter(({ to }) => to.id === myId);
  // Last message from somebody else: a reply to one's own message has no recipient.
  const last = messages.findLast(({ from, to }) => to.id === myId && from.id !== myId);
  const gates = useMemo(() => messages.flatMap((message) => gateOf(message) ?? []), [messages]);
  const isAsked = useIsPending(gates);
  const title = useRef<HTMLHeadingElement>(null);
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    title.current?.focus({ preventScroll: true });
  }, []);
  const navigate = useNavigate();
  useShortcut("Escape", () => {
    const place = placeOf(threadId);
    title.current?.blur();
    void navigate({ to: "/inbox", search: true }).then(() => focusRow(place));
  });
  const count = messages.length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls to the newest message when the count changes
  useLayoutEffect(() => {
    // Newer browsers return a promise, and an effect must not return one.
    void end.current?.scrollIntoView({ block: "end" });
  }, [count]);
  return (
    <section aria-label="Messages in this thread" className="flex h-full flex-col">
      <header className="flex min-h-14 shrink-0 items-center gap-1 border-b border-line px-2 md:px-4">
        <Link
          to="/inbox"
          search={true}
          aria-label="Back to the list"
          title="Back to the list"
          className="grid size-9 shrink-0 place-items-center rounded-lg text-ink-soft hover:bg-hover lg:hidden"
        >
          <ArrowLeft size={18} aria-hidden />
        </Link>
        <h2
          ref={title}
          tabIndex={-1}
          className="min-w-0 flex-1 truncate px-1 font-semibold outline-none"
        >
          {namesIn(messages, myId)}
        </h2>
        {toMe.length > 0 && <ThreadActions threadId={threadId} messages={toMe} />}
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto max-w-3xl space-y-3 p-3 md:p-5">
          {messages.map((message) => (
            <MessageCard key={message.id} message={message} myId={myId} now={now} />
          ))}
          {thread.isCut && (
            <p className="text-center text-xs text-ink-faint">
              Only the first {messages.length} messages of this thread are shown.
            </p>
          )}
          <div ref={end}>
            {last && !isAsked && last.eventType !== "session.digest" && (
              <ReplyForm message={last} />
            )}
          </div>
          {!last && (
            <p className="text-center text-xs text-ink-faint">{endWords(messages, myId)}</p>
          )}
        </div>
      </div>
    </section>
  );
}

/** Returns the text at the end of a thread that cannot be replied to. */
function endWords(messages: readonly MailMessage[], myId: string): string {
  const sent = messages.filter(({ from }) => from.id === myId);
  if (sent.length === 0)
    return "This thread is between your agent and others. You can read it, but not reply.";
  const isNote = sent.every(({ to }) => to.id === myId);
  return isNote ? "A note to yourself." : "Replies appear here.";
}

/** Names everybody in the thread but the reader. */
function namesIn(messages: readonly MailMessage[], myId: string): string {
  const names = new Map<string, string>();
  for (const { from, to } of messages)
    for (const party of [from, to]) if (party.id !== myId) names.set(party.id, partyName(party));
  return names.size === 0 ? "You" : [...names.values()].join(", ");
}

const MENU_BUTTON =
  "grid size-9 place-items-center rounded-lg text-ink-soft hover:bg-hover hover:text-ink data-[state=open]:bg-hover";

function ThreadActions({
  threadId,
  messages,
}: {
  threadId: string;
  messages: readonly MailMessage[];
}) {
  const navigate = useNavigate();
  const { box } = useInboxSearch();
  const { mutate } = useMessageChange();
  const here = messages.filter(({ archivedAt }) => archivedAt === null);
  const isArchived = here.length === 0;
  const snoozed = messages.filter(({ snoozedUntil }) => snoozedUntil !== null);
  const go = (chosen: readonly MailMessage[], change: MessageChange, done?: string) => {
    mutate({ threadId, messages: chosen, change, ...(done !== undefined && { done }) });
    const place = placeOf(threadId);
    void navigate({ to: "/inbox", search: true }).then(() => focusRow(place));
  };
  const newest = messages.at(-1);
  return (
    <div className="flex shrink-0 items-center">
      {!isArchived && box === undefined && newest && (
        <IconButton label="Mark as unread" onClick={() => go([newest], { read: false })}>
          <Mail size={17} aria-hidden />
        </IconButton>
      )}
      {snoozed.length > 0 && (
        <IconButton
          label="Move to inbox now"
          onClick={() => go(snoozed, { snoozedUntil: null }, "Moved to inbox")}
        >
          <Inbox size={17} aria-hidden />
        </IconButton>
      )}
      {!isArchived && (
        <SnoozeMenu
          label="Snooze"
          className={MENU_BUTTON}
          onSnooze={(snoozedUntil) => go(here, { snoozedUntil }, "Snoozed")}
        />
      )}
      {isArchived ? (
        <IconButton
          label="Move to inbox"
          onClick={() => go(messages, { archived: false }, "Moved to inbox")}
        >
          <ArchiveRestore size={17} aria-hidden />
        </IconButton>
      ) : (
        <IconButton label="Archive" onClick={() => go(here, { archived: true }, "Archived")}>
          <Archive size={17} aria-hidden />
        </IconButton>
      )}
    </div>
  );
}

/** Returns the thread's position in the list: the next thread moves up to it. */
function placeOf(threadId: string): number {
  const rows = [...document.querySelectorAll("[data-message-row]")];
  return Math.max(
    0,
    rows.findIndex((row) => row.getAttribute("href")?.includes(threadId)),
  );
}
