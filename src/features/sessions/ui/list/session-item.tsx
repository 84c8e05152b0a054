import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { memo } from "react";
import { listedState } from "#features/sessions/ui/tree/children-words.ts";
import type { Session } from "#protocol/sessions.ts";
import { ActivityDot } from "#surfaces/web/kit/activity-mark.tsx";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";
import { ago, fullTime } from "#surfaces/web/kit/text/time-words.ts";
import { LocationLine } from "./location-line.tsx";
import { locationOf } from "./session-location.ts";
import { UNTITLED } from "./untitled.ts";

export const SessionItem = memo(function SessionItem({
  session,
  now,
  isApart = false,
}: {
  session: Session;
  now: number;
  /** True if the session is shown above the list because it is open but filtered out. */
  isApart?: boolean;
}) {
  const location = locationOf(session);
  const needsAttention = session.activity === "needs_you" || session.activity === "failed";
  return (
    <li
      className={clsx(
        "[contain-intrinsic-size:auto_3.25rem] [content-visibility:auto]",
        isApart && "mb-1 border-b border-line pb-1",
      )}
    >
      <Link
        to="/sessions/$sessionId"
        params={{ sessionId: session.id }}
        search={true}
        className="flex gap-2.5 rounded-lg px-2.5 py-2 -outline-offset-2 hover:bg-hover data-[status=active]:bg-hover"
      >
        <ActivityDot activity={session.activity} className="mt-1.5" />
        <span className="min-w-0 flex-1">
          <span className="flex items-baseline gap-2">
            <span className="min-w-0 flex-1 truncate font-medium">
              {revealLine(session.title ?? UNTITLED)}
            </span>
            <time
              dateTime={session.updatedAt}
              title={fullTime(session.updatedAt)}
              className="shrink-0 text-2xs text-ink-faint tabular-nums"
            >
              {ago(session.updatedAt, now)}
            </time>
          </span>
          <span className="mt-0.5 flex gap-1.5 text-xs text-ink-faint">
            {isApart && (
              <>
                <span className="shrink-0 font-medium text-ink-soft">Open now</span>
                <span aria-hidden>·</span>
              </>
            )}
            <span
              className={
                needsAttention
                  ? session.activity === "failed"
                    ? "text-bad"
                    : "text-warn"
                  : undefined
              }
            >
              {session.lifecycle === "archived" ? "Archived" : listedState(session)}
            </span>
            <span aria-hidden>·</span>
            <span className="shrink-0">{session.runtime}</span>
            {location && <span aria-hidden>·</span>}
            <LocationLine location={location} />
            {session.counts.queued > 0 && (
              <>
                <span aria-hidden>·</span>
                <span className="shrink-0">{session.counts.queued} queued</span>
              </>
            )}
          </span>
        </span>
      </Link>
    </li>
  );
});
