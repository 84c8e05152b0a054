import { type ReactNode, useId, useLayoutEffect, useRef } from "react";
import type { Approval } from "#surfaces/web/kit/approval.ts";
import { InlineError } from "#surfaces/web/kit/field.tsx";
import { useNow } from "#surfaces/web/kit/hooks/use-now.ts";
import { fullTime, until } from "#surfaces/web/kit/text/time-words.ts";

/** Cards that already took the focus once: scrolling back to one must not take it again. */
const seen = new Set<string>();

/** Style of buttons that are disabled for a moment: they must not look disabled for good. */
export const UNARMED = "disabled:opacity-100";

interface CardFrameProps {
  approval: Approval;
  icon: ReactNode;
  title: string;
  problem: string | null;
  children: ReactNode;
}

export function CardFrame({ approval, icon, title, problem, children }: CardFrameProps) {
  const card = useRef<HTMLElement>(null);
  const titleId = useId();
  const now = useNow(30_000);
  const left = until(approval.expiresAt, now);
  useLayoutEffect(() => {
    if (seen.has(approval.id)) return;
    seen.add(approval.id);
    if (isIdle()) card.current?.focus({ preventScroll: true });
  }, [approval.id]);
  return (
    <section
      ref={card}
      tabIndex={-1}
      aria-labelledby={titleId}
      data-testid="gate"
      className="animate-lift my-2 space-y-3 rounded-xl border border-warn/45 bg-raised p-3.5 shadow-[0_1px_3px_rgb(0_0_0/0.05)] outline-none focus-visible:ring-2 focus-visible:ring-warn/40"
    >
      <header className="flex flex-wrap items-center gap-x-2 gap-y-0.5">
        <span className="text-warn">{icon}</span>
        <h2 id={titleId} className="font-semibold">
          {title}
        </h2>
        <time
          dateTime={approval.expiresAt}
          title={fullTime(approval.expiresAt)}
          className="ml-auto text-2xs text-ink-faint"
        >
          {left === "" ? "expired" : `expires ${left}`}
        </time>
      </header>
      {children}
      {problem !== null && <InlineError>{problem}</InlineError>}
    </section>
  );
}

/**
 * True when the person is not in the middle of anything: nothing has the focus, or only the page, the
 * transcript or an empty prompt box.
 */
function isIdle(): boolean {
  const active = document.activeElement;
  if (active === null || active === document.body) return true;
  if (active instanceof HTMLTextAreaElement)
    return active.value === "" && active.dataset.composer !== undefined;
  return active.id === "main" || active.getAttribute("role") === "log";
}
