import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ListTodo, MessagesSquare, Tag } from "lucide-react";
import type { ReactNode } from "react";
import type { MailMessage } from "#features/mailbox/contract.ts";
import { SessionLink } from "#features/sessions/ui/session/session-link.tsx";
import { ORCHESTRATOR } from "#protocol/names/session-ids.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { useMyOrchestrator } from "#surfaces/web/kit/hooks/use-orchestrator.ts";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";
import type { Context } from "./list/inbox-search.ts";
import { failedPromptOf, gateOf } from "./message-words.ts";

/** Links to the subjects of a message. The platform's references to gates and prompts are left out. */
export function MessageContext({ message }: { message: MailMessage }) {
  const { contextSessionId, contextTaskId, contextRef, contextUrl, from } = message;
  const sessionId = contextSessionId === from.id ? null : contextSessionId;
  const isOurs = gateOf(message) !== null || failedPromptOf(message) !== null;
  const words = isOurs ? null : contextRef;
  if (sessionId === null && contextTaskId === null && words === null) return null;
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-0.5 text-xs text-ink-faint">
      {sessionId !== null && (
        <About icon={<MessagesSquare size={13} aria-hidden />} filter={`session:${sessionId}`}>
          <SessionLink sessionId={sessionId} name={null} className="relative z-10 block truncate" />
        </About>
      )}
      {contextTaskId !== null && (
        <About icon={<ListTodo size={13} aria-hidden />} filter={`task:${contextTaskId}`}>
          <TaskName taskId={contextTaskId} />
        </About>
      )}
      {words !== null && (
        <About icon={<Tag size={13} aria-hidden />} filter={`ref:${words}`}>
          <Reference words={words} url={contextUrl} />
        </About>
      )}
    </div>
  );
}

const ID = /^\w{1,64}$/;

/** The reference as text, or as a link to its pull request or issue. */
function Reference({ words, url }: { words: string; url: string | null }) {
  const text = revealLine(words);
  if (url === null) return <span className="block truncate">{text}</span>;
  return (
    <a
      href={url}
      title={url}
      target="_blank"
      rel="noreferrer noopener"
      className="relative z-10 block truncate font-medium text-accent underline-offset-2 hover:underline"
    >
      {text}
    </a>
  );
}

/** Links to the task only if the reader may see its board: a sender may name any task. */
function TaskName({ taskId }: { taskId: string }) {
  const mine = useMyOrchestrator().data?.session?.id;
  const found = useQuery({
    queryKey: keys.taskAnywhere(taskId),
    queryFn: async ({ signal }) =>
      (await api.tasks.byId({ query: { ids: taskId } }, { signal })).items[0] ?? null,
    enabled: ID.test(taskId),
    staleTime: 60_000,
  });
  if (!found.data) return <span className="block truncate">a task</span>;
  const { boardId } = found.data;
  return (
    <Link
      to="/board/$sessionId/$taskId"
      params={{ sessionId: boardId === mine ? ORCHESTRATOR : boardId, taskId }}
      search={true}
      className="relative z-10 block truncate font-medium text-accent underline-offset-2 hover:underline"
    >
      {revealLine(found.data.title)}
    </Link>
  );
}

/** Links to the session that wrote the message. */
export function SenderLink({ message }: { message: MailMessage }) {
  const { kind, id, name } = message.from;
  if (kind !== "session" || id.startsWith(ORCHESTRATOR)) return null;
  const label = `Open the session ${revealLine(name)}`;
  return (
    <Link
      to="/sessions/$sessionId"
      params={{ sessionId: id }}
      search={true}
      aria-label={label}
      title={label}
      className="relative z-10 -my-1 grid size-6 shrink-0 place-items-center self-center rounded-md text-ink-faint hover:bg-line hover:text-accent"
    >
      <MessagesSquare size={14} aria-hidden />
    </Link>
  );
}

interface AboutProps {
  icon: ReactNode;
  filter: Context;
  children: ReactNode;
}

/** Shows one subject of a message. Its icon filters the inbox by it. */
function About({ icon, filter, children }: AboutProps) {
  const label = "Show only messages about this";
  return (
    <span className="flex min-w-0 items-center gap-1">
      <Link
        to="/inbox"
        search={(before: object) => ({ ...before, about: filter }) as never}
        aria-label={label}
        title={label}
        className="relative z-10 shrink-0 rounded hover:text-accent"
      >
        {icon}
      </Link>
      <span className="min-w-0">{children}</span>
    </span>
  );
}
