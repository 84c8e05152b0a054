import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import type { Page } from "#protocol/page.ts";
import type { Prompt, QueueMode } from "#protocol/sessions.ts";
import { api } from "#surfaces/web/kit/api.ts";
import { ApiError, messageOf } from "#surfaces/web/kit/api-client.ts";
import { keys } from "#surfaces/web/kit/query-keys.ts";
import { randomId } from "#surfaces/web/kit/random-id.ts";
import { placePrompt } from "./queue.ts";

/** A prompt on its way to the server. Its dispatch id makes every further try the same prompt. */
export interface Submission {
  dispatchId: string;
  content: string;
  mode: QueueMode;
  /** Why no answer came, once trying again by itself was given up. */
  problem: string | null;
}

/** What the server refused: the text goes back to where it was written. */
export interface Refused {
  content: string;
  error: unknown;
}

export interface Submissions {
  items: readonly Submission[];
  send: (content: string, mode: QueueMode) => Promise<Refused | undefined>;
  retry: (submission: Submission) => Promise<Refused | undefined>;
  discard: (dispatchId: string) => void;
}

const RETRY_AFTER_MS = [600, 2_000];

export function useSubmissions(sessionId: string): Submissions {
  const queryClient = useQueryClient();
  const [items, setItems] = useState<readonly Submission[]>([]);

  const discard = useCallback((dispatchId: string) => {
    setItems((list) => list.filter((item) => item.dispatchId !== dispatchId));
  }, []);
  const put = useCallback((submission: Submission) => {
    setItems((list) => {
      const isKnown = list.some((item) => item.dispatchId === submission.dispatchId);
      if (!isKnown) return [...list, submission];
      return list.map((item) => (item.dispatchId === submission.dispatchId ? submission : item));
    });
  }, []);

  const retry = useCallback(
    async (submission: Submission): Promise<Refused | undefined> => {
      put({ ...submission, problem: null });
      try {
        const { prompt } = await sendUntilAnswered(sessionId, submission);
        queryClient.setQueryData(keys.prompt(prompt.id), { prompt });
        queryClient.setQueryData<Page<Prompt>>(
          keys.queue(sessionId),
          (page) => page && placePrompt(page, prompt),
        );
        // It may have started before the answer came: ask what is still queued.
        void queryClient.invalidateQueries({ queryKey: keys.queue(sessionId) });
        void queryClient.invalidateQueries({ queryKey: keys.session(sessionId) });
        discard(submission.dispatchId);
        return undefined;
      } catch (error) {
        if (error instanceof ApiError && error.isUncertain) {
          put({ ...submission, problem: messageOf(error) });
          return undefined;
        }
        discard(submission.dispatchId);
        return { content: submission.content, error };
      }
    },
    [discard, put, queryClient, sessionId],
  );

  const send = useCallback(
    (content: string, mode: QueueMode) =>
      retry({ dispatchId: randomId(), content, mode, problem: null }),
    [retry],
  );
  return { items, send, retry, discard };
}

async function sendUntilAnswered(sessionId: string, submission: Submission) {
  const { content, mode, dispatchId } = submission;
  for (const waitMs of RETRY_AFTER_MS) {
    try {
      return await api.sendPrompt(sessionId, { content, mode, dispatchId });
    } catch (error) {
      if (!(error instanceof ApiError && error.isUncertain)) throw error;
      await new Promise((resume) => window.setTimeout(resume, waitMs));
    }
  }
  return await api.sendPrompt(sessionId, { content, mode, dispatchId });
}
