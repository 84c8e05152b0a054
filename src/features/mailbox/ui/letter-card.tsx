import { useQuery } from "@tanstack/react-query";
import { clsx } from "clsx";
import { ArrowRight, Hourglass, Send, TriangleAlert } from "lucide-react";
import type { Letter, LetterParty } from "#features/mailbox/contract.ts";
import { FailureActions } from "#features/sessions/ui/session/failure-actions.tsx";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Markdown } from "#surfaces/web/kit/text/markdown.tsx";
import { clockTime, dayName, fullTime } from "#surfaces/web/kit/text/time-words.ts";
import { LetThrough } from "./let-through.tsx";
import { LetterContext, SenderLink } from "./letter-context.tsx";
import { LetterGate, useIsPending } from "./letter-gate.tsx";
import {
  bodyOf,
  decisionWords,
  eventWords,
  failedPromptOf,
  fateWords,
  gateOf,
  partyName,
  TYPES,
} from "./letter-words.ts";
import { TypeMark } from "./list/type-mark.tsx";

interface LetterCardProps {
  letter: Letter;
  /** Id of the reader. */
  myId: string;
  now: number;
}

/** Shows one message of a thread in full. */
export function LetterCard({ letter, myId, now }: LetterCardProps) {
  const { from, to, messageType, createdAt } = letter;
  const isMine = from.id === myId;
  const gateId = gateOf(letter);
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
        <TypeMark letter={letter} className="mt-0.5" />
        <p className="flex min-w-0 flex-1 flex-wrap items-baseline gap-x-1.5">
          <Party party={from} isMe={isMine} />
          {eventWords(letter) !== null && (
            <span className="text-ink-soft">{eventWords(letter)}</span>
          )}
          {decisionWords(letter) !== null && (
            <span className="rounded-full bg-hover px-1.5 text-2xs text-ink-soft">
              {decisionWords(letter)}
            </span>
          )}
          {to.id !== myId && (
            <>
              <ArrowRight size={12} aria-label="to" className="self-center text-ink-faint" />
              <Party party={to} isMe={false} />
            </>
          )}
        </p>
        <SenderLink letter={letter} />
        <time
          dateTime={createdAt}
          title={fullTime(createdAt)}
          className="mt-0.5 shrink-0 text-2xs text-ink-faint tabular-nums"
        >
          {dayName(createdAt, now)} {clockTime(createdAt)}
        </time>
      </header>
      {!isAsked && <Body letter={letter} />}
      {gateId !== null && (
        <div className="mt-2">
          <LetterGate gateId={gateId} sessionId={letter.contextSessionId ?? from.id} />
        </div>
      )}
      {letter.eventType === "session.failed" && <Failed letter={letter} />}
      <div className="mt-2 space-y-1 empty:hidden">
        <LetterContext letter={letter} />
        {to.id !== myId && <Fate letter={letter} />}
        <LetThrough letter={letter} now={now} />
      </div>
    </article>
  );
}

/** Shows actions as long as the session is still failed. */
function Failed({ letter }: { letter: Letter }) {
  const sessionId = letter.contextSessionId ?? letter.from.id;
  const session = useQuery({
    queryKey: keys.session(sessionId),
    queryFn: ({ signal }) => api.sessions.get({ id: sessionId }, { signal }),
  }).data?.session;
  if (session?.status !== "error") return null;
  return (
    <div className="mt-2 flex flex-wrap gap-2">
      <FailureActions session={session} promptId={failedPromptOf(letter)} />
    </div>
  );
}

/** Events whose text an agent wrote in markdown; other platform messages are plain text. */
const MARKDOWN_EVENTS: ReadonlySet<string> = new Set(["session.completed", "session.digest"]);

function Body({ letter }: { letter: Letter }) {
  const { from, eventType } = letter;
  const text = bodyOf(letter);
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

function Party({ party, isMe }: { party: LetterParty; isMe: boolean }) {
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

export function Fate({ letter }: { letter: Letter }) {
  const { Icon, tone } = DELIVERY_MARKS[letter.fate];
  return (
    <p data-fate={letter.fate} className={clsx("flex items-start gap-1.5 text-xs", tone)}>
      <Icon size={13} aria-hidden className="mt-0.5 shrink-0" />
      <span className="min-w-0 [overflow-wrap:anywhere]">{fateWords(letter)}</span>
    </p>
  );
}
