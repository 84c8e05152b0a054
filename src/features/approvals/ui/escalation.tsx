import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { TriangleAlert, X } from "lucide-react";
import type { Letter } from "#features/mailbox/contract.ts";
import { failedPromptOf, lineOf, partyName } from "#features/mailbox/ui/letter-words.ts";
import { useLetterChange, useLetterList } from "#features/mailbox/ui/use-letters.ts";
import { FailureActions } from "#features/sessions/ui/session/failure-actions.tsx";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { IconButton } from "#surfaces/web/kit/button.tsx";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";
import { ago } from "#surfaces/web/kit/text/time-words.ts";

/** Lists failed sessions and escalations of agents that nobody has dealt with. */
export function useEscalations(): Letter[] {
  const list = useLetterList({ box: "inbox", unreadOnly: true, messageType: "escalation" });
  return (list.data?.pages ?? []).flatMap(({ items }) => items).filter(({ read }) => !read);
}

/** Shows a failed session with its actions; an agent's escalation links to the inbox. */
export function Escalation({ letter, now }: { letter: Letter; now: number }) {
  return letter.eventType === "session.failed" ? (
    <Failure letter={letter} now={now} />
  ) : (
    <li>
      <Link
        to="/inbox/$threadId"
        params={{ threadId: letter.threadId }}
        search={true}
        className="block rounded-lg px-1.5 py-1.5 -outline-offset-2 hover:bg-hover"
      >
        <Words letter={letter} name={partyName(letter.from)} now={now} />
      </Link>
    </li>
  );
}

function Failure({ letter, now }: { letter: Letter; now: number }) {
  const sessionId = letter.contextSessionId ?? letter.from.id;
  const session = useQuery({
    queryKey: keys.session(sessionId),
    queryFn: ({ signal }) => api.sessions.get({ id: sessionId }, { signal }),
  }).data?.session;
  const change = useLetterChange();
  const name = revealLine(session?.title ?? partyName(letter.from));
  const target = session?.isOrchestrator
    ? ({ to: "/" } as const)
    : ({ to: "/sessions/$sessionId", params: { sessionId } } as const);
  const dismiss = () =>
    change.mutate({ threadId: letter.threadId, letters: [letter], change: { read: true } });
  return (
    <li className="rounded-lg px-1.5 py-1.5 hover:bg-hover" aria-label={`${name} failed`}>
      <div className="flex gap-1">
        <Link {...target} search={true} className="min-w-0 flex-1 rounded -outline-offset-2">
          <Words letter={letter} name={name} now={now} />
        </Link>
        <IconButton size="small" label={`Dismiss: ${name} failed`} onClick={dismiss}>
          <X size={14} aria-hidden />
        </IconButton>
      </div>
      <div className="mt-1 flex flex-wrap items-center gap-1.5 pl-[1.4375rem]">
        {session && <FailureActions session={session} promptId={failedPromptOf(letter)} />}
        <Link
          {...target}
          search={true}
          className="inline-flex h-7 items-center rounded-lg px-1 text-xs font-medium text-accent hover:underline"
        >
          See why
        </Link>
      </div>
    </li>
  );
}

function Words({ letter, name, now }: { letter: Letter; name: string; now: number }) {
  return (
    <span className="flex gap-2">
      <TriangleAlert size={15} aria-hidden className="mt-0.5 shrink-0 text-bad" />
      <span className="min-w-0 flex-1">
        <span className="flex items-baseline gap-2">
          <span className="min-w-0 flex-1 truncate font-medium">{name}</span>
          <time dateTime={letter.createdAt} className="shrink-0 text-2xs text-ink-faint">
            {ago(letter.createdAt, now)}
          </time>
        </span>
        <span className="block truncate text-xs text-ink-soft">{lineOf(letter)}</span>
      </span>
    </span>
  );
}
