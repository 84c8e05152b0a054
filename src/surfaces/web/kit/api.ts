/** Every call the pages make, with its shape. */
import type { Page } from "#protocol/page.ts";
import type { Entry, Prompt, QueueMode, Session } from "#protocol/sessions.ts";
import { callApi } from "./api-client.ts";

export interface Me {
  user: { id: string; name: string; email: string | null; role: string };
  org: { id: string; name: string; slug: string };
  scopes: string[];
}

export interface RuntimeChoice {
  name: string;
  available: boolean;
  reason: string | null;
}

export interface SessionFilter {
  lifecycle?: string | undefined;
  status?: string | undefined;
  q?: string | undefined;
}

export interface NewSession {
  title?: string;
  runtime?: string;
  prompt?: string;
}

export interface NewPrompt {
  content: string;
  mode: QueueMode;
  dispatchId: string;
}

const session = (id: string) => `/api/sessions/${encodeURIComponent(id)}`;
const prompt = (id: string) => `/api/prompts/${encodeURIComponent(id)}`;

export const api = {
  me: (signal?: AbortSignal) => callApi<Me>("/api/me", withSignal(signal)),
  signIn: (secret: { token: string } | { key: string }) =>
    callApi<unknown>("/api/auth/sign-in", { method: "POST", body: secret }),
  signOut: () => callApi<unknown>("/api/auth/sign-out", { method: "POST", body: {} }),

  listRuntimes: () => callApi<{ items: RuntimeChoice[] }>("/api/runtimes"),

  listSessions: (filter: SessionFilter, cursor: string | undefined, signal?: AbortSignal) =>
    callApi<Page<Session>>("/api/sessions", {
      query: { ...filter, limit: 50, cursor },
      ...withSignal(signal),
    }),
  createSession: (body: NewSession, idempotencyKey: string) =>
    callApi<{ session: Session }>("/api/sessions", { method: "POST", body, idempotencyKey }),
  getSession: (id: string, signal?: AbortSignal) =>
    callApi<{ session: Session }>(session(id), withSignal(signal)),
  renameSession: (id: string, title: string) =>
    callApi<{ session: Session }>(session(id), { method: "PATCH", body: { title } }),
  stopSession: (id: string) =>
    callApi<unknown>(`${session(id)}/stop`, { method: "POST", body: {} }),
  archiveSession: (id: string, force: boolean) =>
    callApi<unknown>(session(id), { method: "DELETE", query: force ? { force: true } : {} }),

  readTranscript: (id: string, before: number | undefined, limit: number, signal?: AbortSignal) =>
    callApi<Page<Entry>>(`${session(id)}/transcript`, {
      query: { before, limit },
      ...withSignal(signal),
    }),

  listQueue: (id: string, signal?: AbortSignal) =>
    callApi<Page<Prompt>>(`${session(id)}/prompts`, {
      query: { state: "queued,collecting", limit: 200 },
      ...withSignal(signal),
    }),
  sendPrompt: (id: string, body: NewPrompt) =>
    callApi<{ prompt: Prompt }>(`${session(id)}/prompts`, { method: "POST", body }),
  getPrompt: (id: string, signal?: AbortSignal) =>
    callApi<{ prompt: Prompt }>(prompt(id), withSignal(signal)),
  editPrompt: (id: string, content: string) =>
    callApi<{ prompt: Prompt }>(prompt(id), { method: "PATCH", body: { content } }),
  withdrawPrompt: (id: string) => callApi<unknown>(prompt(id), { method: "DELETE" }),
  promotePrompt: (id: string) =>
    callApi<{ prompt: Prompt }>(`${prompt(id)}/promote`, { method: "POST", body: {} }),
};

function withSignal(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal ? { signal } : {};
}
