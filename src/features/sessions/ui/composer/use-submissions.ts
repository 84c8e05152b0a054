import { useCallback, useSyncExternalStore } from "react";
import type { QueueMode } from "#protocol/sessions.ts";
import type { UnsentPrompt } from "#surfaces/web/kit/prompts/kept-prompts.ts";
import type { OutboxItem } from "#surfaces/web/kit/prompts/prompt-outbox.ts";
import { randomId } from "#surfaces/web/kit/text/random-id.ts";
import { useOutbox } from "./outbox-context.tsx";

/** Prompt that the server refused. It stays in the outbox until somebody discards it. */
export interface Refused {
  prompt: UnsentPrompt;
  error: unknown;
}

export interface Submissions {
  items: readonly OutboxItem[];
  /** Resolves when the server has answered, however long that takes. */
  send: (content: string, mode: QueueMode) => Promise<Refused | undefined>;
  retry: (prompt: UnsentPrompt) => void;
  discard: (prompt: UnsentPrompt) => void;
}

/** Prompts to one session that the server has not confirmed yet. */
export function useSubmissions(sessionId: string): Submissions {
  const outbox = useOutbox();
  const items = useSyncExternalStore(outbox.onChange, () => outbox.items(sessionId));
  const send = useCallback(
    async (content: string, mode: QueueMode): Promise<Refused | undefined> => {
      const prompt = { dispatchId: randomId(), sessionId, content, mode, at: Date.now() };
      const error = await outbox.add(prompt);
      return error && { prompt, error };
    },
    [outbox, sessionId],
  );
  const retry = useCallback((prompt: UnsentPrompt) => outbox.retry(prompt), [outbox]);
  const discard = useCallback((prompt: UnsentPrompt) => outbox.discard(prompt), [outbox]);
  return { items, send, retry, discard };
}
