import { clsx } from "clsx";
import { Pencil, Pin, PinOff } from "lucide-react";
import { useState } from "react";
import type { Memory } from "#features/memory/contract.ts";
import { SessionLink } from "#features/sessions/ui/session/session-link.tsx";
import { Pill } from "#features/supervision/ui/pill.tsx";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { IconButton } from "#surfaces/web/kit/button.tsx";
import { Remove } from "#surfaces/web/kit/settings/parts.tsx";
import { useChange } from "#surfaces/web/kit/settings/use-change.ts";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";
import { agoWords, fullTime } from "#surfaces/web/kit/text/time-words.ts";
import {
  accessWords,
  categoryWords,
  fadingWords,
  nameOf,
  relevanceWords,
  repoWords,
} from "./memory-words.ts";

/** Longer contents are folded. */
const LONG_CHARS = 400;

interface MemoryItemProps {
  memory: Memory;
  now: number;
  onEdit: (memory: Memory) => void;
}

export function MemoryItem({ memory, now, onEdit }: MemoryItemProps) {
  const { id, title, content, pinned } = memory;
  const name = nameOf(memory);
  const pin = useChange((to: boolean) => api.memory.update({ id, body: { pinned: to } }), {
    stale: keys.memories,
    failed: pinned ? "Couldn't unpin the memory" : "Couldn't pin the memory",
  });
  const forget = useChange(() => api.memory.delete({ id }), {
    stale: keys.memories,
    failed: "Couldn't delete the memory",
  });
  const isBusy = pin.isPending || forget.isPending;
  return (
    <li className="items-start gap-2 py-3 pr-1.5 pl-3.5 sm:flex">
      <div className="min-w-0 flex-1 pr-2 sm:pr-0">
        {title !== null && (
          <p className="font-medium [overflow-wrap:anywhere]">{revealLine(title)}</p>
        )}
        <Content text={content} />
        <Facts memory={memory} now={now} />
      </div>
      <div className="flex shrink-0 justify-end max-sm:-mb-1.5 max-sm:gap-2">
        <IconButton
          size="small"
          label={`${pinned ? "Unpin" : "Pin"} ${name}`}
          aria-pressed={pinned}
          disabled={isBusy}
          className={clsx(pinned && "text-accent")}
          onClick={() => pin.mutate(!pinned)}
        >
          {pinned ? <PinOff size={15} aria-hidden /> : <Pin size={15} aria-hidden />}
        </IconButton>
        <IconButton
          size="small"
          label={`Edit ${name}`}
          disabled={isBusy}
          onClick={() => onEdit(memory)}
        >
          <Pencil size={14} aria-hidden />
        </IconButton>
        <Remove
          label={`Delete ${name}`}
          text="Agents will no longer see it. This cannot be undone."
          action="Delete"
          isBusy={isBusy}
          onConfirm={() => forget.mutate(undefined)}
        />
      </div>
    </li>
  );
}

/** Shows the content as plain text: an agent wrote it, so it is never rendered as markup. */
function Content({ text }: { text: string }) {
  const [isWhole, setIsWhole] = useState(false);
  const isLong = text.length > LONG_CHARS;
  return (
    <p className="[overflow-wrap:anywhere] whitespace-pre-wrap text-ink-soft">
      {isLong && !isWhole ? `${text.slice(0, LONG_CHARS).toWellFormed()}…` : text}
      {isLong && (
        <button
          type="button"
          className="ml-1 text-accent underline-offset-2 hover:underline"
          onClick={() => setIsWhole(!isWhole)}
        >
          {isWhole ? "Show less" : "Show all"}
        </button>
      )}
    </p>
  );
}

function Facts({ memory, now }: { memory: Memory; now: number }) {
  const { kind, repo, category, source, updatedAt, pinned } = memory;
  return (
    <p className="mt-1.5 text-xs leading-5 text-ink-faint">
      <Pill tone="plain" className="mr-2">
        {categoryWords(category)}
      </Pill>
      {pinned && (
        <Pill tone="accent" className="mr-2">
          pinned
        </Pill>
      )}
      {kind === "session" && (
        <>
          <span className="[overflow-wrap:anywhere]">{repoWords(repo)}</span> ·{" "}
        </>
      )}
      written by <Writer source={source} />{" "}
      <time dateTime={updatedAt} title={fullTime(updatedAt)}>
        {agoWords(updatedAt, now)}
      </time>{" "}
      · <span title={fadingWords(memory)}>{relevanceWords(memory)}</span> ·{" "}
      {accessWords(memory, now)}
    </p>
  );
}

function Writer({ source }: Pick<Memory, "source">) {
  if (source === null) return <>you</>;
  const isOrchestrator = source.sessionId.startsWith("orchestrator:");
  return (
    <SessionLink sessionId={source.sessionId} name={isOrchestrator ? "your orchestrator" : null} />
  );
}
