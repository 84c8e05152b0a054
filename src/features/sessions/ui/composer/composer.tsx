import { useMutation, useQuery } from "@tanstack/react-query";
import { ArrowUp, Square } from "lucide-react";
import { type KeyboardEvent, useLayoutEffect, useRef, useState } from "react";
import { PAGE_LIMIT_MAX } from "#protocol/page-limits.ts";
import type { QueueMode, Session } from "#protocol/sessions.ts";
import { api, isUncertain, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { InlineError } from "#surfaces/web/kit/field.tsx";
import { keepDraft, readDraft } from "#surfaces/web/kit/prompts/session-draft.ts";
import { Suggestions } from "#surfaces/web/kit/suggestions.tsx";
import { useToasts } from "#surfaces/web/kit/toast.tsx";
import { ModeMenu } from "./mode-menu.tsx";
import type { Submissions } from "./use-submissions.ts";

interface ComposerProps {
  session: Session;
  /** True before the first prompt. */
  isFresh: boolean;
  isWorking: boolean;
  /** True while a question of this session is pending: the typed text answers it. */
  isAsking: boolean;
  submissions: Submissions;
}

const MAX_HEIGHT_PX = 260;

function placeholderFor(isWorking: boolean, isAsking: boolean): string {
  if (isAsking) return "Type your answer…";
  return isWorking ? "Add a follow-up…" : "Describe a task…";
}

export function Composer({ session, isFresh, isWorking, isAsking, submissions }: ComposerProps) {
  const box = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState(() => readDraft(session.id));
  const [chosenMode, setChosenMode] = useState<QueueMode | null>(null);
  const [refusal, setRefusal] = useState<string | null>(null);
  const mode = chosenMode ?? session.queueMode;
  const stop = useStop(session.id, isWorking);
  const isNew =
    session.runtime === "native" && isFresh && text === "" && submissions.items.length === 0;

  const write = (next: string) => {
    setText(next);
    keepDraft(session.id, next);
  };
  useLayoutEffect(() => {
    const area = box.current;
    if (area === null) return;
    area.style.height = "auto";
    area.style.height = `${Math.min(area.scrollHeight, text === "" ? 0 : MAX_HEIGHT_PX) || 40}px`;
  }, [text]);

  const send = async () => {
    if (text.trim() === "") return;
    const content = text;
    write("");
    setRefusal(null);
    setChosenMode(null);
    box.current?.focus();
    const refused = await submissions.send(content, mode);
    // A person who has left the page finds the prompt in the queue, with the reason.
    if (refused === undefined || box.current === null) return;
    // The server may have accepted the prompt: only resending the same one from the queue is safe.
    if (isUncertain(refused.error)) return;
    setRefusal(messageOf(refused.error));
    submissions.discard(refused.prompt);
    // Text written meanwhile is kept after the refused prompt.
    const meanwhile = readDraft(session.id);
    write(meanwhile === "" ? content : `${content}\n${meanwhile}`);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "." && (event.metaKey || event.ctrlKey) && isWorking) {
      event.preventDefault();
      stop.mutate();
    }
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void send();
  };

  if (session.lifecycle === "archived" || session.lifecycle === "terminated") {
    return (
      <p className="rounded-xl border border-line bg-panel px-4 py-3 text-center text-ink-soft">
        {session.isOrchestrator ? "Your orchestrator" : "This session"} is {session.lifecycle} and
        accepts no more prompts
        {session.isOrchestrator ? " until it restarts" : ""}. You can still read its history.
      </p>
    );
  }
  return (
    <div className="space-y-2">
      {refusal !== null && <InlineError>{refusal}</InlineError>}
      {isNew && (
        <Suggestions
          isOrchestrator={session.isOrchestrator}
          onChoose={(suggestion) => {
            write(suggestion);
            box.current?.focus();
          }}
        />
      )}
      <div className="rounded-2xl border border-line-strong bg-raised shadow-[0_1px_3px_rgb(0_0_0/0.04)] focus-within:border-accent focus-within:ring-2 focus-within:ring-accent/20">
        <textarea
          ref={box}
          aria-label="Prompt"
          data-composer
          rows={1}
          placeholder={placeholderFor(isWorking, isAsking)}
          value={text}
          onChange={(event) => write(event.target.value)}
          onKeyDown={onKeyDown}
          className="block min-h-10 w-full resize-none bg-transparent px-4 pt-2.5 pb-1 text-[0.9375rem] leading-relaxed outline-none max-sm:text-base"
        />
        <div className="flex items-center gap-2 px-2 pb-2">
          <ModeMenu mode={mode} onChange={setChosenMode} />
          <span className="ml-auto hidden text-2xs text-ink-faint lg:block">
            Enter to send · Shift+Enter for a new line
          </span>
          <div className="flex gap-2 max-lg:ml-auto">
            {isWorking && (
              <Button
                size="small"
                look="danger"
                className="h-8"
                title="Stop the running turn (Ctrl+.)"
                disabled={stop.isPending}
                onClick={() => stop.mutate()}
              >
                <Square size={12} fill="currentColor" aria-hidden />
                Stop
              </Button>
            )}
            <Button
              look="primary"
              size="small"
              aria-label="Send"
              title="Send (Enter)"
              className="h-8 w-8 !px-0"
              disabled={text.trim() === ""}
              onClick={() => void send()}
            >
              <ArrowUp size={17} aria-hidden />
            </Button>
          </div>
        </div>
      </div>
    </div>
  );
}

/** Stops the turns that are shown as running: the page may not know yet that they ended. */
function useStop(sessionId: string, isWorking: boolean) {
  const toasts = useToasts();
  const running = useQuery({
    queryKey: keys.running(sessionId),
    queryFn: ({ signal }) =>
      api.prompts.list(
        { id: sessionId, query: { state: "running,gated", limit: PAGE_LIMIT_MAX } },
        { signal },
      ),
    enabled: isWorking,
  });
  const shown = running.data?.items.map(({ id }) => id) ?? [];
  return useMutation({
    mutationFn: () => {
      const turns = shown.length === 0 ? [undefined] : shown;
      return Promise.all(
        turns.map((promptId) => api.sessions.stop({ id: sessionId, body: { promptId } })),
      );
    },
    onError: (error) => toasts.fail("Couldn't stop the turn", error),
  });
}
