/** Transcript rows of notices and of turns outside the conversation. */
import { useQuery } from "@tanstack/react-query";
import { Bell, ChevronRight, Mail, SquareKanban } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { Me } from "#features/auth/contract.ts";
import {
  childEventWords,
  foldedWords,
  messageLine,
  messageWords,
  type ShownNotice,
  taskNotices,
  waitEndedWords,
} from "#protocol/notices/notice-words.ts";
import type { NoticeOf } from "#protocol/notices/notices.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";
import { clockTime, fullTime } from "#surfaces/web/kit/text/time-words.ts";
import { ReceiptLine } from "../composer/receipt-line.tsx";
import { SessionLink } from "../session/session-link.tsx";
import type { Row } from "./rows.ts";

type WakeRowData = Extract<Row, { type: "wake" }>;
type AsideRowData = Extract<Row, { type: "aside" }>;

export const BOX = "rounded-xl border border-line bg-panel px-3 py-2 text-[0.8125rem]";
const LABELS: Record<ShownNotice["kind"], string> = {
  children: "Updates from child sessions",
  messages: "Messages",
  board: "Board updates",
};
/** Labels of the button that shows the full notice. */
const FULL_TEXT: Record<ShownNotice["kind"], string> = {
  children: "Message from child",
  messages: "Full message",
  board: "Full update",
};
const ICONS = { children: Bell, messages: Mail, board: SquareKanban } as const;

/** Shows in one line why the platform woke this session; the full notice is one click away. */
export function WakeRow({ row }: { row: WakeRowData }) {
  const [isOpen, setIsOpen] = useState(false);
  const { notice, text, promptId } = row;
  const Icon = ICONS[notice.kind];
  return (
    <article aria-label={LABELS[notice.kind]} className="pt-4 pb-2">
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
            {FULL_TEXT[notice.kind]}
          </Fold>
          {promptId !== null && <ReceiptLine promptId={promptId} isFollowed={row.isFollowed} />}
        </div>
        {isOpen && <Words text={text} />}
      </div>
    </article>
  );
}

function Head({ row: { notice, writer } }: { row: WakeRowData }) {
  if (notice.kind === "messages") return <Messages notice={notice} writer={writer} />;
  return notice.kind === "board" ? (
    <BoardNotice notice={notice} />
  ) : (
    <ChildrenNotice notice={notice} />
  );
}

function ChildrenNotice({ notice }: { notice: NoticeOf<"children"> }) {
  if (notice.items.length === 0) return <p>{waitEndedWords(notice)}</p>;
  return notice.items.map((item) => (
    <p key={`${item.childId}:${item.type}`} className="break-words">
      {foldedWords(item) ?? (
        <>
          <SessionLink sessionId={item.childId} name={item.childName} />{" "}
          <span className="text-ink-soft">{childEventWords(item)}</span>
        </>
      )}
    </p>
  ));
}

function BoardNotice({ notice }: { notice: NoticeOf<"board"> }) {
  return (
    <>
      <p className="font-medium">Board updates</p>
      {taskNotices(notice).map(({ id, title, words }) => (
        <p key={`${id}:${words}`} className="break-words">
          {revealLine(title)} <span className="text-ink-soft">{words}</span>
        </p>
      ))}
    </>
  );
}

interface MessagesProps {
  notice: NoticeOf<"messages">;
  writer?: WakeRowData["writer"];
}

/** Lists messages. A person's message shows the verified writer, whatever its text says. */
function Messages({ notice, writer = null }: MessagesProps) {
  const me = useQuery<Me | null>({ queryKey: keys.me, enabled: false });
  const named = writer?.id === me.data?.user.id ? "you" : (writer?.name ?? "");
  return notice.items.map((item) => {
    const { handle, name } = item.from;
    const line = messageLine(item);
    return (
      <p key={item.id} className="break-words">
        {messageWords(item)} from{" "}
        <span className="font-medium">{revealLine(writer === null ? name : named)}</span>
        {handle !== null && <span className="text-ink-faint"> @{revealLine(handle)}</span>}
        {line !== "" && (
          <span className="line-clamp-2 text-ink-soft [overflow-wrap:anywhere]">
            {revealLine(line)}
          </span>
        )}
      </p>
    );
  });
}

/** Without a notice the beginning of the turn is not loaded, or an earlier version wrote it. */
function AsideHead({ row: { notice, text } }: { row: AsideRowData }) {
  if (notice?.kind === "messages") return <Messages notice={notice} />;
  return <p>{text === "" ? "A message" : revealLine(text.split("\n", 1)[0] ?? "")}</p>;
}

/** Shows somebody else's message and the agent's reply, folded because both are outside the conversation. */
export function AsideRow({ row, children }: { row: AsideRowData; children: ReactNode }) {
  const [choice, setChoice] = useState<boolean | null>(null);
  const isOpen = choice ?? row.needsYou;
  return (
    <article aria-label="Outside your conversation" className="pt-4 pb-2">
      <div className={`${BOX} border-dashed`}>
        <div className="flex items-start gap-2">
          <Mail size={14} aria-hidden className="mt-0.5 shrink-0 text-ink-faint" />
          <div className="min-w-0 flex-1">
            <AsideHead row={row} />
          </div>
          <Time at={row.at} />
        </div>
        <div className="mt-1 pl-5.5">
          <Fold isOpen={isOpen} onToggle={() => setChoice(!isOpen)}>
            Outside your conversation
          </Fold>
        </div>
        {isOpen && (
          <div className="mt-1.5 space-y-1">
            {row.text !== "" && <NoticeText text={row.text} />}
            {children}
            {row.rows.length === 0 && <p className="py-1 text-xs text-ink-faint">No reply yet.</p>}
          </div>
        )}
      </div>
    </article>
  );
}

function NoticeText({ text }: { text: string }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <div className="pl-5.5">
      <Fold isOpen={isOpen} onToggle={() => setIsOpen(!isOpen)}>
        {FULL_TEXT.messages}
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
