import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useState } from "react";
import type { Page } from "#protocol/page.ts";
import type { Prompt } from "#protocol/sessions.ts";
import {
  ApiError,
  api,
  isUnauthenticated,
  messageOf,
  writtenBy,
} from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { signInEnded } from "#surfaces/web/kit/api/sign-in-ended.ts";
import { unsentPrefix } from "#surfaces/web/kit/api/tab-person.ts";
import { useConnection } from "#surfaces/web/kit/live/live-context.tsx";
import { keptPrompts, type UnsentPrompt } from "#surfaces/web/kit/prompts/kept-prompts.ts";
import { PromptOutbox, type SendResult } from "#surfaces/web/kit/prompts/prompt-outbox.ts";
import { placePrompt } from "./queue.ts";

const PROXY_BUSY_MS = 5_000;
const OutboxContext = createContext<PromptOutbox | undefined>(undefined);

function createOutbox(queryClient: QueryClient, userId: string): PromptOutbox {
  return new PromptOutbox({
    kept: keptPrompts(() => localStorage, unsentPrefix(userId)),
    send: (prompt) => sendPrompt(queryClient, userId, prompt),
    isServerWell: () =>
      api.me.get().then(
        ({ user }) => user.id === userId,
        () => false,
      ),
    now: Date.now,
    setTimer: (run, afterMs) => window.setTimeout(run, afterMs),
    clearTimer: (timer) => window.clearTimeout(timer as number | undefined),
  });
}

async function sendPrompt(
  queryClient: QueryClient,
  userId: string,
  { sessionId, content, mode, dispatchId, at }: UnsentPrompt,
): Promise<SendResult> {
  const writtenMsAgo = Math.max(0, Date.now() - at);
  try {
    const body = { content, mode, dispatchId, writtenMsAgo };
    const { prompt } = await api.prompts.create(
      { id: sessionId, body },
      { headers: writtenBy(userId) },
    );
    queryClient.setQueryData(keys.prompt(prompt.id), { prompt });
    queryClient.setQueryData<Page<Prompt>>(
      keys.queue(sessionId),
      (page) => page && placePrompt(page, prompt),
    );
    // The prompt may have started before the answer came: refresh the queue.
    void queryClient.invalidateQueries({ queryKey: keys.queue(sessionId) });
    void queryClient.invalidateQueries({ queryKey: keys.session(sessionId) });
    return { is: "sent" };
  } catch (error) {
    if (error instanceof ApiError) return resultOf(queryClient, error);
    return { is: "refused", error: error instanceof Error ? error : new Error(String(error)) };
  }
}

function resultOf(queryClient: QueryClient, error: ApiError): SendResult {
  const why = messageOf(error);
  if (error.status === 0) return { is: "lost", why };
  if (error.status >= 500) return { is: "failed", error };
  if (isUnauthenticated(error)) {
    signInEnded(queryClient, error);
    return { is: "not_signed_in", why };
  }
  if (error.code === "person_changed") {
    void queryClient.resetQueries({ queryKey: keys.me });
    return { is: "not_signed_in", why };
  }
  const afterMs = busyMsOf(error);
  return afterMs === undefined ? { is: "refused", error } : { is: "busy", why, afterMs };
}

/** Rate limit codes of the server or of a proxy before it: the limit passes by itself. */
const RATE_LIMIT_CODES: ReadonlySet<string> = new Set(["rate_limited", "http_429"]);

/** Returns undefined for limits that a person has to act on, such as a full queue. */
function busyMsOf({ status, code, retryAfterMs }: ApiError): number | undefined {
  if (status !== 429 || !RATE_LIMIT_CODES.has(code)) return undefined;
  return retryAfterMs ?? PROXY_BUSY_MS;
}

/** Holds one person's unconfirmed prompts for as long as that person is signed in. */
export function OutboxProvider({ userId, children }: { userId: string; children: ReactNode }) {
  const queryClient = useQueryClient();
  const [outbox, setOutbox] = useState<PromptOutbox>();
  const connection = useConnection();
  useEffect(() => {
    const made = createOutbox(queryClient, userId);
    setOutbox(made);
    made.wake();
    const wake = () => made.wake();
    const heard = ({ key }: StorageEvent) => {
      if (key === null || key.startsWith(unsentPrefix(userId))) made.sync();
    };
    window.addEventListener("online", wake);
    window.addEventListener("storage", heard);
    return () => {
      window.removeEventListener("online", wake);
      window.removeEventListener("storage", heard);
      made.stop();
    };
  }, [queryClient, userId]);
  useEffect(() => {
    if (connection === "live") outbox?.wake();
  }, [connection, outbox]);
  if (!outbox) return null;
  return <OutboxContext value={outbox}>{children}</OutboxContext>;
}

export function useOutbox(): PromptOutbox {
  const outbox = useContext(OutboxContext);
  if (outbox === undefined) throw new Error("useOutbox needs an OutboxProvider above it");
  return outbox;
}
