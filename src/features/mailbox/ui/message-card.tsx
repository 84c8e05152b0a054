import { useQuery } from "@tanstack/react-query";
import { clsx } from "clsx";
import { ArrowRight, Hourglass, Send, TriangleAlert } from "lucide-react";
import type { MailMessage, MessageParty } from "#features/mailbox/contract.ts";
import { FailureActions } from "#features/sessions/ui/session/failure-actions.tsx";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Markdown } from "#surfaces/web/kit/text/markdown.tsx";
import { clockTime, dayName, fullTime } from "#surfaces/web/kit/text/time-words.ts";
import { LetThrough } from "./let-through.tsx";
import { TypeMark } from "./list/type-mark.tsx";
import { MessageContext, SenderLink } from "./message-context.tsx";
import { MessageGate, useIsPending } from "./message-gate.tsx";
import {
  bodyOf,
  decisionWords,
  eventWords,
  failedPromptOf,
  fateWords,
  gateOf,
  partyName,
  TYPES,
} from "./message-words.ts";

interface MessageCardProps {
  message: MailMessage;
  /** Id of the reader. */
  myId: string;
  now: number;
}

/** Shows one message of a thread in full. */
export function MessageCard({ message, myId, now }: MessageCardProps) {
  const { from, to, messageType, createdAt } = message;
  const isMine = from.id === myId;
  const gateId = gateOf(message);
  // The pending question says all that the message does.
  const isAsked = useIsPending(gateId === null ? [] : [gateId]);
  return (
    <article
      aria-label={`${TYPES[messageType]} from ${isMine ? "you" : partyName(from)}`}
      className={clsx(
        "rounded-xl border px-3.5 py-3",
        isMine ? "border-transparent bg-bubble" : "border-line bg-raised",
      )}
    >
      <header className="flex items-start gap-2">
        <TypeMark message={message} className="mt-0.5" />
        <p className="flex min-w-0 flex-1 flex-wrap items-baseline gap-x-1.5">
          <Party party={from} isMe={isMine} />
          {eventWords(message) !== null && (
            <span className="text-ink-soft">{eventWords(message)}</span>
          )}
          {decisionWords(message) !== null && (
            <span className="rounded-full bg-hover px-1.5 text-2xs text-ink-soft">
              {decisionWords(message)}
            </span>
          )}
          {to.id !== myId && (
            <>
              <ArrowRight size={12} aria-label="to" className="self-center text-ink-faint" />
              <Party party={to} isMe={false} />
            </>
          )}
        </p>
        <SenderLink message={message} />
        <time
          dateTime={createdAt}
          title={fullTime(createdAt)}
          className="mt-0.5 shrink-0 text-2xs text-ink-faint tabular-nums"
        >
          {dayName(createdAt, now)} {clockTime(createdAt)}
        </time>
      </header>
      {!isAsked && <Body message={message} />}
      {gateId !== null && (
        <div className="mt-2">
          <MessageGate gateId={gateId} sessionId={message.contextSessionId ?? from.id} />
        </div>
      )}
      {message.eventType === "session.failed" && <Failed message={message} />}
      <div className="mt-2 space-y-1 empty:hidden">
        <MessageContext message={message} />
        {to.id !== myId && <Fate message={message} />}
        <LetThrough message={message} now={now} />
      </div>
    </article>
  );
}

/** Shows actions as long as the session is still failed. */
function Failed({ message }: { message: MailMessage }) {
  const sessionId = message.contextSessionId ?? message.from.id;
  const session = useQuery({
    queryKey: keys.session(sessionId),
    queryFn: ({ signal }) => api.sessions.get({ id: sessionId }, { signal }),
  }).data?.session;
  if (session?.status !== "error") return null;
  return (
    <div className="mt-2 flex flex-wrap gap-2">
      <FailureActions session={session} promptId={failedPromptOf(message)} />
    </div>
  );
}

/** Events whose text an agent wrote in markdown; other platform messages are plain text. */
const MARKDOWN_EVENTS: ReadonlySet<string> = new Set(["session.completed", "session.digest"]);

function Body({ message }: { message: MailMessage }) {
  const { from, eventType } = message;
  const text = bodyOf(message);
  // A person who types a message means each line break.
  const typed = from.kind === "user" ? text.replace(/(?<!\n)\n(?!\n)/g, "  \n") : text;
  const isMarkdown = eventType === null || MARKDOWN_EVENTS.has(eventType);
  if (text === "") return null;
  return (
    <div className="mt-2 [overflow-wrap:anywhere]">
      {isMarkdown ? <Markdown text={typed} /> : <p className="whitespace-pre-wrap">{text}</p>}
    </div>
  );
}

function Party({ party, isMe }: { party: MessageParty; isMe: boolean }) {
  return (
    <span className="min-w-0 [overflow-wrap:anywhere]">
      <span className="font-semibold">{isMe ? "You" : partyName(party)}</span>
      {party.handle !== null && <span className="text-ink-faint"> @{party.handle}</span>}
    </span>
  );
}

const DELIVERY_MARKS = {
  delivered: { Icon: Send, tone: "text-ink-faint" },
  waiting: { Icon: Hourglass, tone: "text-warn" },
  failed: { Icon: TriangleAlert, tone: "text-bad" },
} as const;

export function Fate({ message }: { message: MailMessage }) {
  const { Icon, tone } = DELIVERY_MARKS[message.fate];
  return (
    <p data-fate={message.fate} className={clsx("flex items-start gap-1.5 text-xs", tone)}>
      <Icon size={13} aria-hidden className="mt-0.5 shrink-0" />
      <span className="min-w-0 [overflow-wrap:anywhere]">{fateWords(message)}</span>
    </p>
  );
}
