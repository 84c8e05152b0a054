/** Every call the pages make, with its shape. */
import type { GatewaySettings } from "#features/gateway/contract.ts";
import type { Rule } from "#features/policy/contract.ts";
import type { Provider, ProviderChange } from "#features/providers/contract.ts";
import type { UsageGroup, UsagePage } from "#features/usage/contract.ts";
import type { ModelOffer } from "#protocol/models.ts";
import type { Page } from "#protocol/page.ts";
import type { DatabaseUse } from "#protocol/reports/database-use.ts";
import type { Runner } from "#protocol/runs.ts";
import type { Entry, Prompt, QueueMode, Session } from "#protocol/sessions.ts";
import type { SessionChanges } from "#protocol/workspaces.ts";
import { callApi, fetchFile } from "./api-client.ts";
import type { Approval, Scope } from "./approval.ts";
import { dropPageKey } from "./page-key.ts";
import { leave, noteSignedInHere } from "./tab-person.ts";

export interface Me {
  user: {
    id: string;
    name: string;
    email: string | null;
    role: string;
    timezone?: string;
    locale?: string;
  };
  org: { id: string; name: string; slug: string };
  scopes: string[];
}

export type SignInSecret =
  | { token: string }
  | { key: string }
  | { email: string; password: string };

export interface RuntimeChoice {
  name: string;
  available: boolean;
  reason: string | null;
}

export interface SessionFilter {
  /** One or several, with commas between. */
  lifecycle?: string | undefined;
  parent?: string | undefined;
  status?: string | undefined;
  q?: string | undefined;
}

export interface NewSession {
  title?: string;
  runtime?: string;
  model?: string;
  prompt?: string;
  repo?: string;
  branch?: string;
  projectDir?: string;
  personaSlug?: string;
  kind?: "task" | "review";
}

export type Answer =
  | { decision: "allow" | "deny" | "revise"; scope?: Scope; reason?: string }
  | { answers: string[] };

export interface NewPrompt {
  content: string;
  mode: QueueMode;
  dispatchId: string;
  /** Of one that was kept until the server came back. */
  writtenMsAgo?: number;
}

export interface Preview {
  /** A page of its own. */
  url: string;
  /** To be put into a frame. */
  frameUrl: string;
  expiresAt: string;
}

interface NamedPerson {
  id: string;
  name: string;
}

/** A sign-in link before it is used. */
export interface InspectedLink {
  user: NamedPerson;
  current: NamedPerson | null;
  needsConsent: boolean;
}

const session = (id: string) => `/api/sessions/${encodeURIComponent(id)}`;
const runner = (id: string) => `/api/runners/${encodeURIComponent(id)}`;
const approval = (id: string) => `/api/approvals/${encodeURIComponent(id)}`;
const provider = (name: string) => `/api/providers/${encodeURIComponent(name)}`;
const modelGateway = (orgId: string) => `/api/orgs/${encodeURIComponent(orgId)}/model-gateway`;
const prompt = (id: string) => `/api/prompts/${encodeURIComponent(id)}`;

/** Where this browser is: agents tell times as they are there. */
export function browserPlace(): { timezone: string; locale: string } {
  const { timeZone, locale } = new Intl.DateTimeFormat().resolvedOptions();
  return { timezone: timeZone, locale };
}

export const api = {
  me: (signal?: AbortSignal) => callApi<Me>("/api/me", withSignal(signal)),
  signIn: async (secret: SignInSecret) => {
    await callApi<unknown>("/api/auth/sign-in", { method: "POST", body: secret });
    noteSignedInHere();
  },
  inspectLink: (token: string, signal: AbortSignal) =>
    callApi<InspectedLink>("/api/auth/links/inspect", { method: "POST", body: { token }, signal }),
  join: async (token: string, body: { name: string; email: string; password: string }) => {
    await callApi<unknown>(`/api/invitations/${encodeURIComponent(token)}/accept`, {
      method: "POST",
      body: { ...body, ...browserPlace() },
    });
    noteSignedInHere();
  },
  changeProfile: (body: { timezone: string; locale: string }) =>
    callApi<unknown>("/api/me", { method: "PATCH", body }),
  signOut: async () => {
    await callApi<unknown>("/api/auth/sign-out", { method: "POST", body: {} });
    dropPageKey();
    leave();
  },

  listModels: () => callApi<{ items: ModelOffer[] }>("/api/models"),
  listProviders: (signal?: AbortSignal) =>
    callApi<Page<Provider>>("/api/providers", withSignal(signal)),
  setProvider: (name: string, body: ProviderChange) =>
    callApi<{ provider: Provider }>(provider(name), { method: "PUT", body }),
  removeProvider: (name: string) => callApi<unknown>(provider(name), { method: "DELETE" }),
  readModelGateway: (orgId: string, signal: AbortSignal) =>
    callApi<{ gateway: GatewaySettings }>(modelGateway(orgId), { signal }),
  changeModelGateway: (orgId: string, body: Partial<GatewaySettings>) =>
    callApi<{ gateway: GatewaySettings }>(modelGateway(orgId), { method: "PUT", body }),
  listRunners: () => callApi<Page<Runner>>("/api/runners"),
  readDisk: () => callApi<{ database: DatabaseUse | null }>("/api/disk"),
  allowUnsandboxed: (id: string) =>
    callApi<{ runner: Runner }>(`${runner(id)}/unsandboxed`, { method: "POST", body: {} }),
  requireSandbox: (id: string) =>
    callApi<{ runner: Runner }>(`${runner(id)}/unsandboxed`, { method: "DELETE" }),
  lookForSandbox: (id: string) =>
    callApi<{ runner: Runner }>(`${runner(id)}/look`, { method: "POST", body: {} }),
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
  /** Null: chosen automatically. */
  changeModel: (id: string, model: string | null) =>
    callApi<{ session: Session }>(session(id), { method: "PATCH", body: { model } }),
  /** Without a prompt: the turn that runs. */
  stopSession: (id: string, promptId?: string) =>
    callApi<{ stopped: string[] }>(`${session(id)}/stop`, { method: "POST", body: { promptId } }),
  hibernateSession: (id: string) =>
    callApi<{ session: Session }>(`${session(id)}/hibernate`, { method: "POST", body: {} }),
  wakeSession: (id: string) =>
    callApi<{ session: Session }>(`${session(id)}/wake`, { method: "POST", body: {} }),
  relocateSession: (id: string) =>
    callApi<{ session: Session }>(`${session(id)}/relocate`, { method: "POST", body: {} }),
  changeSession: (id: string, change: { budget?: number | null; enableMemory?: boolean }) =>
    callApi<{ session: Session }>(session(id), { method: "PATCH", body: change }),
  /** `detaches`: its children go on by themselves; else they end with it. */
  archiveSession: (id: string, force: boolean, detaches = false) =>
    callApi<unknown>(session(id), {
      method: "DELETE",
      query: { ...(force && { force: true }), ...(detaches && { children: "detach" }) },
    }),

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
  listRunning: (id: string, signal?: AbortSignal) =>
    callApi<Page<Prompt>>(`${session(id)}/prompts`, {
      query: { state: "running,gated", limit: 200 },
      ...withSignal(signal),
    }),
  /** The newest prompts that are over. */
  listSettled: (id: string, limit: number, signal?: AbortSignal) =>
    callApi<Page<Prompt>>(`${session(id)}/prompts`, {
      query: { state: "settled", limit },
      ...withSignal(signal),
    }),
  sendPrompt: (id: string, body: NewPrompt, personId?: string) =>
    callApi<{ prompt: Prompt }>(`${session(id)}/prompts`, {
      method: "POST",
      body,
      ...(personId === undefined ? {} : { personId }),
    }),
  getPrompt: (id: string, signal?: AbortSignal) =>
    callApi<{ prompt: Prompt }>(prompt(id), withSignal(signal)),
  editPrompt: (id: string, content: string) =>
    callApi<{ prompt: Prompt }>(prompt(id), { method: "PATCH", body: { content } }),
  withdrawPrompt: (id: string) => callApi<unknown>(prompt(id), { method: "DELETE" }),
  promotePrompt: (id: string) =>
    callApi<{ prompt: Prompt }>(`${prompt(id)}/promote`, { method: "POST", body: {} }),
  /** Removes what an entry says, and the other half of its call. */
  redactEntry: (id: string, entryId: string) =>
    callApi<{ redacted: string[] }>(
      `${session(id)}/entries/${encodeURIComponent(entryId)}/redact`,
      {
        method: "POST",
        body: {},
      },
    ),
  /** Sends it again; a second call gives back the same prompt. */
  retryPrompt: (id: string) =>
    callApi<{ prompt: Prompt }>(`${prompt(id)}/retry`, { method: "POST", body: {} }),

  listPendingApprovals: (signal?: AbortSignal) =>
    callApi<Page<Approval>>("/api/approvals", {
      query: { state: "pending", limit: 200 },
      ...withSignal(signal),
    }),
  listSessionApprovals: (id: string, signal?: AbortSignal) =>
    callApi<Page<Approval>>("/api/approvals", {
      query: { session: id, limit: 200 },
      ...withSignal(signal),
    }),
  answerApproval: (id: string, body: Answer) =>
    callApi<{ approval?: Approval }>(approval(id), { method: "POST", body }),

  listRules: (signal?: AbortSignal) => callApi<Page<Rule>>("/api/policy", withSignal(signal)),
  removeRule: (id: string) =>
    callApi<unknown>(`/api/policy/rules/${encodeURIComponent(id)}`, { method: "DELETE" }),

  readChanges: (id: string, turn: string | undefined, signal?: AbortSignal) =>
    callApi<SessionChanges>(`${session(id)}/changes`, { query: { turn }, ...withSignal(signal) }),
  openPreview: (id: string, path: string, scripts: boolean) =>
    callApi<Preview>(`${session(id)}/previews`, { method: "POST", body: { path, scripts } }),

  /** `from` is a day, such as 2026-03-01. */
  readUsage: (by: UsageGroup, from: string | undefined, signal?: AbortSignal) =>
    callApi<UsagePage>("/api/usage", { query: { by, from, limit: 200 }, ...withSignal(signal) }),
  readSessionUsage: (session: string, signal?: AbortSignal) =>
    callApi<UsagePage>("/api/usage", { query: { by: "session", session }, ...withSignal(signal) }),
  readSessionModels: (session: string, signal?: AbortSignal) =>
    callApi<UsagePage>("/api/usage", { query: { by: "model", session }, ...withSignal(signal) }),
};

export function fetchAttachment(promptId: string, sha256: string): Promise<Blob> {
  return fetchFile(`${prompt(promptId)}/attachments/${encodeURIComponent(sha256)}`);
}

function withSignal(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal ? { signal } : {};
}
