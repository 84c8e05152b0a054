import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ClipboardList, MessageCircleQuestionMark, ShieldQuestion } from "lucide-react";
import { useState } from "react";
import type { MailMessage } from "#features/mailbox/contract.ts";
import { UNTITLED } from "#features/sessions/ui/list/untitled.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { type Approval, questionsOf, shownOf } from "#surfaces/web/kit/approval.ts";
import { useNow } from "#surfaces/web/kit/hooks/use-now.ts";
import { plural } from "#surfaces/web/kit/text/money-words.ts";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";
import { ago } from "#surfaces/web/kit/text/time-words.ts";
import { Escalation, useEscalations } from "./escalation.tsx";
import { usePendingApprovals } from "./use-approvals.ts";

const LISTED = 6;

/** Lists everything that waits for the person, on top of the page. */
export function NeedsYou() {
  const found = usePendingApprovals();
  const items = found.data?.items ?? [];
  const escalations = useEscalations();
  const now = useNow(30_000);
  return (
    <>
      <p role="status" className="sr-only">
        {items.length > 0 && `${plural(items.length, "request")} waiting for you`}
        {items.length > 0 && escalations.length > 0 && ", "}
        {escalations.length > 0 && `${plural(escalations.length, "failure")} to look at`}
      </p>
      {items.length + escalations.length > 0 && (
        <WaitingList items={items} escalations={escalations} now={now} />
      )}
    </>
  );
}

interface WaitingListProps {
  items: readonly Approval[];
  escalations: readonly MailMessage[];
  now: number;
}

function WaitingList({ items, escalations, now }: WaitingListProps) {
  const [isWhole, setIsWhole] = useState(false);
  const count = items.length + escalations.length;
  const shown = isWhole ? count : LISTED;
  return (
    <nav
      aria-label="Needs you"
      className="mx-2 mb-2 rounded-xl border border-warn/35 bg-warn-soft/60"
    >
      <h2 className="flex items-center gap-2 px-2.5 pt-2 pb-1 text-xs font-semibold text-warn">
        Needs you
        <span className="rounded-full bg-warn px-1.5 text-2xs text-page tabular-nums">{count}</span>
      </h2>
      <ul className="max-h-[34dvh] overflow-y-auto px-1 pb-1">
        {items.slice(0, shown).map((approval) => (
          <Waiting key={approval.id} approval={approval} now={now} />
        ))}
        {escalations.slice(0, Math.max(0, shown - items.length)).map((message) => (
          <Escalation key={message.id} message={message} now={now} />
        ))}
      </ul>
      {count > shown && (
        <button
          type="button"
          onClick={() => setIsWhole(true)}
          className="px-2.5 pb-2 text-2xs text-ink-soft underline underline-offset-2"
        >
          Show {count - shown} more
        </button>
      )}
    </nav>
  );
}

function Waiting({ approval, now }: { approval: Approval; now: number }) {
  const session = useQuery({
    queryKey: keys.session(approval.sessionId),
    queryFn: ({ signal }) => api.sessions.get({ id: approval.sessionId }, { signal }),
  });
  const Icon = ICONS[approval.kind];
  return (
    <li>
      <Link
        to="/sessions/$sessionId"
        params={{ sessionId: approval.sessionId }}
        search={true}
        className="flex gap-2 rounded-lg px-1.5 py-1.5 -outline-offset-2 hover:bg-hover"
      >
        <Icon size={15} aria-hidden className="mt-0.5 shrink-0 text-warn" />
        <span className="min-w-0 flex-1">
          <span className="flex items-baseline gap-2">
            <span className="min-w-0 flex-1 truncate font-medium">
              {revealLine(session.data?.session.title ?? UNTITLED)}
            </span>
            <time dateTime={approval.askedAt} className="shrink-0 text-2xs text-ink-faint">
              {ago(approval.askedAt, now)}
            </time>
          </span>
          <span className="block truncate text-xs text-ink-soft">
            {revealLine(lineOf(approval))}
          </span>
        </span>
      </Link>
    </li>
  );
}

const ICONS = {
  approval: ShieldQuestion,
  question: MessageCircleQuestionMark,
  plan: ClipboardList,
} as const;

function lineOf(approval: Approval): string {
  if (approval.kind === "question") return questionsOf(approval)[0]?.question ?? "Question";
  if (approval.kind === "plan") return `Plan: ${approval.target ?? "approve it?"}`;
  const { tool } = shownOf(approval);
  return approval.target === null ? tool : `${tool}: ${approval.target}`;
}
