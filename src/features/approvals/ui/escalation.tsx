import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { TriangleAlert, X } from "lucide-react";
import type { MailMessage } from "#features/mailbox/contract.ts";
import { failedPromptOf, lineOf, partyName } from "#features/mailbox/ui/message-words.ts";
import { useMessageChange, useMessageList } from "#features/mailbox/ui/use-messages.ts";
import { FailureActions } from "#features/sessions/ui/session/failure-actions.tsx";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { IconButton } from "#surfaces/web/kit/button.tsx";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";
import { ago } from "#surfaces/web/kit/text/time-words.ts";

/** Lists failed sessions and escalations of agents that nobody has dealt with. */
export function useEscalations(): MailMessage[] {
  const list = useMessageList({ box: "inbox", unreadOnly: true, messageType: "escalation" });
  return (list.data?.pages ?? []).flatMap(({ items }) => items).filter(({ read }) => !read);
}

/** Shows a failed session with its actions; an agent's escalation links to the inbox. */
export function Escalation({ message, now }: { message: MailMessage; now: number }) {
  return message.eventType === "session.failed" ? (
    <Failure message={message} now={now} />
  ) : (
    <li>
      <Link
        to="/inbox/$threadId"
        params={{ threadId: message.threadId }}
        search={true}
        className="block rounded-lg px-1.5 py-1.5 -outline-offset-2 hover:bg-hover"
      >
        <Words message={message} name={partyName(message.from)} now={now} />
      </Link>
    </li>
  );
}

function Failure({ message, now }: { message: MailMessage; now: number }) {
  const sessionId = message.contextSessionId ?? message.from.id;
  const session = useQuery({
    queryKey: keys.session(sessionId),
    queryFn: ({ signal }) => api.sessions.get({ id: sessionId }, { signal }),
  }).data?.session;
  const change = useMessageChange();
  const name = revealLine(session?.title ?? partyName(message.from));
  const target = session?.isOrchestrator
    ? ({ to: "/" } as const)
    : ({ to: "/sessions/$sessionId", params: { sessionId } } as const);
  const dismiss = () =>
    change.mutate({ threadId: message.threadId, messages: [message], change: { read: true } });
  return (
    <li className="rounded-lg px-1.5 py-1.5 hover:bg-hover" aria-label={`${name} failed`}>
      <div className="flex gap-1">
        <Link {...target} search={true} className="min-w-0 flex-1 rounded -outline-offset-2">
          <Words message={message} name={name} now={now} />
        </Link>
        <IconButton size="small" label={`Dismiss: ${name} failed`} onClick={dismiss}>
          <X size={14} aria-hidden />
        </IconButton>
      </div>
      <div className="mt-1 flex flex-wrap items-center gap-1.5 pl-[1.4375rem]">
        {session && <FailureActions session={session} promptId={failedPromptOf(message)} />}
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

function Words({ message, name, now }: { message: MailMessage; name: string; now: number }) {
  return (
    <span className="flex gap-2">
      <TriangleAlert size={15} aria-hidden className="mt-0.5 shrink-0 text-bad" />
      <span className="min-w-0 flex-1">
        <span className="flex items-baseline gap-2">
          <span className="min-w-0 flex-1 truncate font-medium">{name}</span>
          <time dateTime={message.createdAt} className="shrink-0 text-2xs text-ink-faint">
            {ago(message.createdAt, now)}
          </time>
        </span>
        <span className="block truncate text-xs text-ink-soft">{lineOf(message)}</span>
      </span>
    </span>
  );
}
