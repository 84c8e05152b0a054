import { useQuery } from "@tanstack/react-query";
import { CircleSlash, MessageCircleReply, ShieldCheck, ShieldX, TimerOff } from "lucide-react";
import type { ReactNode } from "react";
import type { Me } from "#features/auth/contract.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { type Approval, questionsOf, type Scope } from "#surfaces/web/kit/approval.ts";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";
import { Revealed } from "#surfaces/web/kit/text/revealed.tsx";
import { ApprovalCard } from "./approval-card.tsx";
import { PlanCard } from "./plan-card.tsx";
import { QuestionCard } from "./question-card.tsx";

/** Shows a gate at its place in the transcript: a card while pending, one line once decided. */
export function GateRow({ approval }: { approval: Approval }) {
  if (approval.state !== "pending") return <ClosedGate approval={approval} />;
  if (approval.kind === "plan") return <PlanCard approval={approval} />;
  return approval.kind === "question" && questionsOf(approval).length > 0 ? (
    <QuestionCard approval={approval} />
  ) : (
    <ApprovalCard approval={approval} />
  );
}

const SCOPE_WORDS: Record<Scope, string> = {
  once: "allowed this once",
  session: "allowed this for the session",
  always: "chose to always allow this",
};

function ClosedGate({ approval }: { approval: Approval }) {
  const me = useQuery<Me | null>({ queryKey: keys.me, enabled: false });
  const { state, decision, scope, reason, answers } = approval;
  const who = whoDecided(approval, me.data?.user.id);
  if (state === "expired")
    return (
      <StatusLine icon={<TimerOff size={14} aria-hidden />} tone="text-warn">
        Expired without an answer; not allowed
      </StatusLine>
    );
  if (state === "cancelled" || decision === null)
    return (
      <StatusLine icon={<CircleSlash size={14} aria-hidden />} tone="text-ink-faint">
        No longer needed; the turn has ended
      </StatusLine>
    );
  if (answers !== null) return <Answered approval={approval} who={who} answers={answers} />;
  if (approval.kind === "question" && decision === "deny")
    return (
      <StatusLine icon={<CircleSlash size={14} aria-hidden />} tone="text-ink-faint">
        {who} skipped this question
      </StatusLine>
    );
  if (approval.kind === "plan")
    return <DecidedPlan decision={decision} reason={reason} who={who} />;
  return decision === "allow" ? (
    <StatusLine icon={<ShieldCheck size={14} aria-hidden />} tone="text-accent">
      {who} {SCOPE_WORDS[scope ?? "once"]}
      {approval.coveredBy !== null && ", by allowing an identical call"}
    </StatusLine>
  ) : (
    <StatusLine icon={<ShieldX size={14} aria-hidden />} tone="text-bad">
      {who} denied this{reason && `: ${revealLine(reason)}`}
    </StatusLine>
  );
}

function whoDecided({ decidedBy }: Approval, me: string | undefined): string {
  if (decidedBy?.startsWith("session:")) return "The parent session";
  return decidedBy !== null && decidedBy === me ? "You" : "Someone";
}

const PLAN_WORDS = {
  allow: { what: "approved the plan", tone: "text-accent", Icon: ShieldCheck },
  revise: { what: "requested changes to the plan", tone: "text-warn", Icon: MessageCircleReply },
  deny: { what: "rejected the plan", tone: "text-bad", Icon: ShieldX },
} as const;

interface DecidedPlanProps {
  decision: NonNullable<Approval["decision"]>;
  reason: string | null;
  who: string;
}

function DecidedPlan({ decision, reason, who }: DecidedPlanProps) {
  const { what, tone, Icon } = PLAN_WORDS[decision];
  return (
    <StatusLine icon={<Icon size={14} aria-hidden />} tone={tone}>
      {who} {what}
      {reason && `: ${revealLine(reason)}`}
    </StatusLine>
  );
}

function Answered({
  approval,
  who,
  answers,
}: {
  approval: Approval;
  who: string;
  answers: readonly string[];
}) {
  return (
    <div className="my-1.5 rounded-lg border border-line px-3 py-2 text-xs">
      <p className="flex items-center gap-1.5 font-medium text-accent">
        <MessageCircleReply size={14} aria-hidden />
        {who} answered
      </p>
      <dl className="mt-1 space-y-1">
        {questionsOf(approval).map((question, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: questions have no id, only a position
          <div key={at}>
            <dt dir="auto" className="break-words text-ink-faint">
              <Revealed text={question.question} />
            </dt>
            <dd dir="auto" className="break-words whitespace-pre-wrap">
              <Revealed text={answers[at] ?? ""} />
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

function StatusLine({
  icon,
  tone,
  children,
}: {
  icon: ReactNode;
  tone: string;
  children: ReactNode;
}) {
  return (
    <p data-testid="gate-closed" className={`flex items-start gap-1.5 px-2.5 py-1 text-xs ${tone}`}>
      <span className="mt-px shrink-0">{icon}</span>
      <span className="min-w-0 break-words">{children}</span>
    </p>
  );
}
