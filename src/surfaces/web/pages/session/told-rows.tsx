/** What an agent was told that nobody has said in the conversation, as it stands in a transcript. */
import { useQuery } from "@tanstack/react-query";
import { Bell, ChevronRight, Mail, SquareKanban } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { Me } from "#features/auth/contract.ts";
import { newsIn } from "#protocol/worker-news.ts";
import { keys } from "#surfaces/web/kit/query-keys.ts";
import { revealLine } from "#surfaces/web/kit/reveal.ts";
import { clockTime, fullTime } from "#surfaces/web/kit/time-words.ts";
import { ReceiptLine } from "./receipt-line.tsx";
import type { Row } from "./rows.ts";
import { SessionLink } from "./session-link.tsx";
import { boardNewsIn, lettersIn, type Told, wakeLine } from "./wake.ts";

type WakeRowData = Extract<Row, { type: "wake" }>;
type AsideRowData = Extract<Row, { type: "aside" }>;

export const BOX = "rounded-xl border border-line bg-panel px-3 py-2 text-[0.8125rem]";
const LABELS: Record<Told, string> = {
  children: "News from child sessions",
  letters: "Letters",
  board: "News from the board",
};
const ICONS = { children: Bell, letters: Mail, board: SquareKanban } as const;

/** The platform woke this session: why, in a line; the words it was told are one click away. */
export function WakeRow({ row }: { row: WakeRowData }) {
  const [isOpen, setIsOpen] = useState(false);
  const { told, text, promptId } = row;
  const Icon = ICONS[told];
  return (
    <article aria-label={LABELS[told]} className="pt-4 pb-2">
      <div className={BOX}>
        <div className="flex items-start gap-2">
          <Icon size={14} aria-hidden className="mt-0.5 shrink-0 text-ink-faint" />
          <div className="min-w-0 flex-1">
            <Head row={row} />
          </div>
          <Time at={row.at} />
        </div>
        <div className="mt-1 flex items-start justify-between gap-3 pl-5.5">
          <Fold isOpen={isOpen} onToggle={() => setIsOpen(!isOpen)}>
            What it was told
          </Fold>
          {promptId !== null && <ReceiptLine promptId={promptId} handedOn={row.handedOn} />}
        </div>
        {isOpen && <Words text={text} />}
      </div>
    </article>
  );
}

function Head({ row: { told, text, writer } }: { row: WakeRowData }) {
  if (told === "letters") return <Letters text={text} writer={writer} />;
  return told === "board" ? <BoardNews text={text} /> : <ChildNews text={text} />;
}

function ChildNews({ text }: { text: string }) {
  const events = newsIn(text);
  if (events.length === 0) return <p>{revealLine(wakeLine(text))}</p>;
  return events.map((event) => (
    <p key={`${event.childId}:${event.type}`} className="break-words">
      <SessionLink sessionId={event.childId} name={event.childName} />{" "}
      <span className="text-ink-soft">{event.what}</span>
    </p>
  ));
}

function BoardNews({ text }: { text: string }) {
  const news = boardNewsIn(text);
  return (
    <>
      <p className="font-medium">News from the board</p>
      {news.map(({ id, title, what }) => (
        <p key={`${id}:${what}`} className="break-words">
          {revealLine(title)} <span className="text-ink-soft">{what}</span>
        </p>
      ))}
    </>
  );
}

interface LettersProps {
  text: string;
  writer?: WakeRowData["writer"];
}

/** A person's letter is theirs whatever its words say: they are named by who they are. */
function Letters({ text, writer = null }: LettersProps) {
  const me = useQuery<Me | null>({ queryKey: keys.me, enabled: false });
  const letters = lettersIn(text);
  if (letters.length === 0) return <p>{text === "" ? "A letter" : revealLine(wakeLine(text))}</p>;
  const named = writer?.id === me.data?.user.id ? "you" : (writer?.name ?? "");
  return letters.map(({ id, kind, from, handle, line }) => (
    <p key={id} className="break-words">
      {kind} from <span className="font-medium">{revealLine(writer === null ? from : named)}</span>
      {handle !== null && <span className="text-ink-faint"> @{revealLine(handle)}</span>}
      {line !== "" && (
        <span className="line-clamp-2 text-ink-soft [overflow-wrap:anywhere]">
          {revealLine(line)}
        </span>
      )}
    </p>
  ));
}

/** Somebody else's letter and what became of it: folded, because it is no part of the conversation. */
export function AsideRow({ row, children }: { row: AsideRowData; children: ReactNode }) {
  const [choice, setChoice] = useState<boolean | null>(null);
  const isOpen = choice ?? row.needsYou;
  return (
    <article aria-label="Kept apart from your conversation" className="pt-4 pb-2">
      <div className={`${BOX} border-dashed`}>
        <div className="flex items-start gap-2">
          <Mail size={14} aria-hidden className="mt-0.5 shrink-0 text-ink-faint" />
          <div className="min-w-0 flex-1">
            <Letters text={row.text} />
          </div>
          <Time at={row.at} />
        </div>
        <div className="mt-1 pl-5.5">
          <Fold isOpen={isOpen} onToggle={() => setChoice(!isOpen)}>
            Kept apart from your conversation
          </Fold>
        </div>
        {isOpen && (
          <div className="mt-1.5 space-y-1">
            {row.text !== "" && <WhatItWasTold text={row.text} />}
            {children}
            {row.rows.length === 0 && (
              <p className="py-1 text-xs text-ink-faint">Nothing was said to it yet.</p>
            )}
          </div>
        )}
      </div>
    </article>
  );
}

function WhatItWasTold({ text }: { text: string }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <div className="pl-5.5">
      <Fold isOpen={isOpen} onToggle={() => setIsOpen(!isOpen)}>
        What it was told
      </Fold>
      {isOpen && <Words text={text} />}
    </div>
  );
}

interface FoldProps {
  isOpen: boolean;
  onToggle: () => void;
  children: ReactNode;
}

function Fold({ isOpen, onToggle, children }: FoldProps) {
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      onClick={onToggle}
      className="-ml-1 flex items-center gap-1 rounded-md px-1 text-left text-2xs text-ink-faint hover:text-ink-soft"
    >
      <ChevronRight size={12} aria-hidden className={isOpen ? "rotate-90" : undefined} />
      {children}
    </button>
  );
}

function Words({ text }: { text: string }) {
  return (
    <pre className="mt-1.5 max-h-96 overflow-auto rounded-lg border border-line bg-raised p-2.5 font-sans text-xs leading-relaxed break-words whitespace-pre-wrap text-ink-soft">
      {text}
    </pre>
  );
}

export function Time({ at }: { at: string }) {
  return (
    <time
      dateTime={at}
      title={fullTime(at)}
      className="shrink-0 text-2xs text-ink-faint tabular-nums"
    >
      {clockTime(at)}
    </time>
  );
}
