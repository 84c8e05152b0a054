import { useQuery } from "@tanstack/react-query";
import { clsx } from "clsx";
import { useEffect, useState } from "react";
import { useChildrenOverview } from "#features/sessions/ui/tree/use-children.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { clockTime, fullTime } from "#surfaces/web/kit/text/time-words.ts";
import { isAtWork } from "../tree/children-words.ts";
import { type Receipt, receiptOf, type Tone } from "./receipt.ts";

/** Delay before a row loads its receipt: rows that scroll by ask for nothing. */
const SETTLE_MS = 200;

const TONES: Record<Tone, string> = {
  quiet: "text-ink-faint",
  busy: "text-accent",
  good: "text-ink-faint",
  warn: "text-warn",
  bad: "text-bad",
};

interface ReceiptLineProps {
  promptId: string;
  /** True if notices of children came to its thread since. */
  isFollowed: boolean;
}

export function ReceiptLine({ promptId, isFollowed }: ReceiptLineProps) {
  const [isOpen, setIsOpen] = useState(false);
  const [isSettledInView, setIsSettledInView] = useState(false);
  useEffect(() => {
    const timer = window.setTimeout(() => setIsSettledInView(true), SETTLE_MS);
    return () => window.clearTimeout(timer);
  }, []);
  const found = useQuery({
    queryKey: keys.prompt(promptId),
    queryFn: ({ signal }) => api.prompts.get({ id: promptId }, { signal }),
    enabled: isSettledInView,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const sessionId = found.data?.prompt.sessionId;
  const isWaiting = found.data !== undefined && found.data.prompt.endedWaitingFor !== null;
  const children = useChildrenOverview(sessionId ?? "", isWaiting && !isFollowed);
  // The line keeps its height while the receipt loads, so that nothing jumps.
  if (found.data === undefined) return <div aria-hidden className="h-5" />;
  const receipt = receiptOf(found.data.prompt, {
    isFollowed,
    children: children === undefined ? null : children.items.filter(isAtWork).length,
  });
  return (
    <div
      className="flex max-w-full flex-col items-end px-1"
      data-testid="receipt"
      data-state={found.data.prompt.state}
    >
      <button
        type="button"
        aria-expanded={isOpen}
        title="Show details"
        onClick={() => setIsOpen(!isOpen)}
        className={clsx(
          "min-h-5 max-w-full rounded text-right text-2xs break-words hover:underline",
          TONES[receipt.tone],
        )}
      >
        {receipt.summary}
      </button>
      {isOpen && <ReceiptSteps receipt={receipt} />}
    </div>
  );
}

function ReceiptSteps({ receipt }: { receipt: Receipt }) {
  return (
    <ol
      aria-label="Prompt details"
      className="mt-1 space-y-0.5 rounded-lg border border-line bg-raised px-3 py-2 text-2xs"
    >
      {receipt.steps.map((step) => (
        <li key={step.name} className="flex gap-3">
          <span className="w-24 shrink-0 font-medium">{step.name}</span>
          {step.at && (
            <time
              dateTime={step.at}
              title={fullTime(step.at)}
              className="shrink-0 text-ink-faint tabular-nums"
            >
              {clockTime(step.at, true)}
            </time>
          )}
          {step.note && <span className="text-ink-soft">{step.note}</span>}
        </li>
      ))}
    </ol>
  );
}
