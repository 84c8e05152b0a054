import { clsx } from "clsx";
import type { ReactNode } from "react";
import type { ChildrenOverview } from "#features/delegation/contract.ts";
import { NoSandboxMark } from "#features/sessions/ui/list/sandbox-state.tsx";
import { locationOf } from "#features/sessions/ui/list/session-location.ts";
import type { Session } from "#protocol/sessions.ts";
import { ActivityLabel } from "#surfaces/web/kit/activity-mark.tsx";
import { moneyWords } from "#surfaces/web/kit/text/money-words.ts";
import { hasChildren, stateWords } from "../tree/children-words.ts";
import { LocationFact } from "./location-fact.tsx";
import { useSessionModel } from "./session-model.ts";
import { SessionPersona } from "./session-persona.tsx";
import { usageWords, useSessionUsage } from "./session-usage.ts";

interface SessionFactsProps {
  session: Session;
  overview: ChildrenOverview | undefined;
  /** True if archived or terminated. */
  isPutAway: boolean;
}

/** Shows the line under a session's title: state, location, model, persona and cost. */
export function SessionFacts({ session, overview, isPutAway }: SessionFactsProps) {
  const isParent = overview !== undefined && hasChildren(overview);
  const usage = useSessionUsage(session);
  const model = useSessionModel(session);
  const words = usage && usageWords(session, usage);
  const location = locationOf(session);
  return (
    <div className="flex min-w-0 items-center gap-x-1.5 overflow-hidden text-xs whitespace-nowrap text-ink-faint">
      <span
        role="status"
        className="shrink-0"
        aria-label="Activity"
        data-testid="activity"
        data-activity={session.activity}
      >
        <ActivityLabel activity={session.activity} words={stateWords(session, overview)} />
      </span>
      {isPutAway && <Fact>{session.lifecycle}</Fact>}
      {location && (
        <Fact className="flex min-w-16 max-w-[60%] items-baseline" isShrinking>
          <LocationFact location={location} />
        </Fact>
      )}
      <Fact label="Runtime" className="@max-lg:hidden">
        {session.runtime}
      </Fact>
      {model && (
        <Fact label={`Model ${model}`} className="@max-[14rem]:hidden" isShrinking>
          <ModelName model={model} />
        </Fact>
      )}
      {session.persona && (
        <Fact label={`Persona ${session.persona}`} className="inline-flex items-center">
          <SessionPersona
            sessionId={session.id}
            persona={session.persona}
            mayRefresh={!isPutAway}
          />
        </Fact>
      )}
      {words && (
        <Fact label={words.long} className={clsx(isParent && "@max-md:hidden")}>
          {words.tokens}
          <span className="@max-xs:hidden"> tokens</span> · {words.cost}
        </Fact>
      )}
      {isParent && (
        <Fact label={`Cost including child sessions: ${moneyWords(overview.treeCost)}`}>
          {overview.treeCost === null ? "$?" : moneyWords(overview.treeCost)}
          <span className="@max-sm:hidden"> incl. children</span>
        </Fact>
      )}
      {session.hostname && (
        <Fact label="Host" className="@max-2xl:hidden">
          {session.hostname}
        </Fact>
      )}
      {session.runtime === "native" && <NoSandboxMark hostname={session.hostname} />}
    </div>
  );
}

/** Shortens the provider first when there is little room. */
function ModelName({ model }: { model: string }) {
  const cut = model.indexOf("/") + 1;
  return (
    <>
      <span className="@max-xl:hidden">{model.slice(0, cut)}</span>
      {model.slice(cut)}
    </>
  );
}

interface FactProps {
  label?: string;
  className?: string;
  /** True if the fact is shortened first when there is little room. */
  isShrinking?: boolean;
  children: ReactNode;
}

function Fact({ label, className, isShrinking = false, children }: FactProps) {
  return (
    <span
      title={label}
      className={clsx(
        "before:mr-1.5 before:content-['·']",
        isShrinking ? "min-w-0 truncate" : "shrink-0",
        className,
      )}
    >
      {label && <span className="sr-only">{label}: </span>}
      {children}
    </span>
  );
}
