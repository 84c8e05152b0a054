/** Calls of the settings pages: personas, repositories, secrets, keys and people. */
import type { ApiKey } from "#features/auth/contract.ts";
import type { OverseenOrchestrator } from "#features/orchestrators/contract.ts";
import type { Invitation, Member } from "#features/orgs/contract.ts";
import type {
  ImportedSkill,
  Persona,
  PersonaFile,
  PersonaRule,
  PersonaSummary,
  VersionSummary,
  Visibility,
} from "#features/personas/contract.ts";
import type { Repo, RepoSyncResult } from "#features/repos/contract.ts";
import type { Secret, SecretScope } from "#features/secrets/contract.ts";
import type { Page } from "#protocol/page.ts";
import type { OverseenSession } from "#protocol/sessions.ts";
import { callApi } from "./api-client.ts";

export interface PersonaBody {
  name: string;
  description: string;
  visibility: Visibility;
  model: string | null;
  runtime: string | null;
  toolPolicy: PersonaRule[];
  files: PersonaFile[];
  ifVersion?: number;
}

export interface SkillImportBody {
  url: string;
  ref?: string;
  path?: string;
}

export interface NewKey {
  name: string;
  scopes: string[];
  expiresAt?: string;
}

export type NewRepoBody = { url: string } | { fullName: string };
export interface RepoBody {
  enabled?: boolean;
  description?: string | null;
  defaultBranch?: string | null;
  setupCommand?: string | null;
  personaSlug?: string | null;
  credential?: string | null;
  /** Goes in only. */
  webhookSecret?: string | null;
}

type Role = Member["role"];

const part = encodeURIComponent;
const org = (orgId: string) => `/api/orgs/${part(orgId)}`;
const persona = (orgId: string, id: string) => `${org(orgId)}/personas/${part(id)}`;
const repo = (orgId: string, id: string) => `${org(orgId)}/repos/${part(id)}`;
const member = (orgId: string, id: string) => `${org(orgId)}/members/${part(id)}`;
const secrets = (orgId: string, scope: SecretScope) =>
  scope === "org" ? `${org(orgId)}/secrets` : "/api/me/secrets";

export const settingsApi = {
  listPersonas: (orgId: string, signal: AbortSignal) =>
    readAll<PersonaSummary>(`${org(orgId)}/personas`, signal, PAGE_LIMIT),
  getPersona: (orgId: string, id: string, signal: AbortSignal) =>
    callApi<{ persona: Persona }>(persona(orgId, id), { signal }),
  listVersions: (orgId: string, id: string, signal: AbortSignal) =>
    callApi<Page<VersionSummary>>(`${persona(orgId, id)}/versions`, { signal }),
  createPersona: (orgId: string, body: PersonaBody) =>
    callApi<{ persona: Persona }>(`${org(orgId)}/personas`, { method: "POST", body }),
  changePersona: (orgId: string, id: string, body: PersonaBody) =>
    callApi<{ persona: Persona }>(persona(orgId, id), { method: "PATCH", body }),
  removePersona: (orgId: string, id: string) =>
    callApi<unknown>(persona(orgId, id), { method: "DELETE" }),
  setDefaultPersona: (orgId: string, id: string, isDefault: boolean) =>
    callApi<unknown>(`${persona(orgId, id)}/default`, { method: isDefault ? "PUT" : "DELETE" }),
  importSkills: (orgId: string, id: string, body: SkillImportBody) =>
    callApi<{ persona: Persona; skills: ImportedSkill[] }>(`${persona(orgId, id)}/skills/import`, {
      method: "POST",
      body,
    }),
  removeSkill: (orgId: string, id: string, name: string) =>
    callApi<{ persona: Persona }>(`${persona(orgId, id)}/skills/${part(name)}`, {
      method: "DELETE",
    }),
  /** Gives the session the newest version of the persona it has. */
  refreshPersona: (sessionId: string) =>
    callApi<{ persona: string; version: number }>(`/api/sessions/${part(sessionId)}/persona`, {
      method: "POST",
      body: {},
    }),

  listRepos: (orgId: string, signal: AbortSignal) =>
    readAll<Repo>(`${org(orgId)}/repos`, signal, PAGE_LIMIT),
  addRepo: (orgId: string, body: NewRepoBody & RepoBody) =>
    callApi<{ repo: Repo }>(`${org(orgId)}/repos`, { method: "POST", body }),
  changeRepo: (orgId: string, id: string, body: RepoBody) =>
    callApi<{ repo: Repo }>(repo(orgId, id), { method: "PATCH", body }),
  removeRepo: (orgId: string, id: string) =>
    callApi<unknown>(repo(orgId, id), { method: "DELETE" }),
  syncRepos: (orgId: string, body: { owner?: string }) =>
    callApi<{ sync: RepoSyncResult }>(`${org(orgId)}/repos/sync`, { method: "POST", body }),

  listSecrets: (orgId: string, scope: SecretScope, signal: AbortSignal) =>
    readAll<Secret>(secrets(orgId, scope), signal, PAGE_LIMIT),
  setSecret: (orgId: string, scope: SecretScope, name: string, value: string) =>
    callApi<unknown>(`${secrets(orgId, scope)}/${part(name)}`, { method: "PUT", body: { value } }),
  removeSecret: (orgId: string, scope: SecretScope, name: string) =>
    callApi<unknown>(`${secrets(orgId, scope)}/${part(name)}`, { method: "DELETE" }),

  listKeys: (signal: AbortSignal) => callApi<Page<ApiKey>>("/api/me/api-keys", { signal }),
  createKey: (body: NewKey) =>
    callApi<{ apiKey: ApiKey; key: string }>("/api/me/api-keys", { method: "POST", body }),
  revokeKey: (id: string) => callApi<unknown>(`/api/me/api-keys/${part(id)}`, { method: "DELETE" }),

  listMembers: (orgId: string, signal: AbortSignal) =>
    readAll<Member>(`${org(orgId)}/members`, signal),
  listRemovedMembers: async (orgId: string, signal: AbortSignal) => {
    const query = { removed: "true" };
    const { items } = await callApi<Page<Member>>(`${org(orgId)}/members`, { query, signal });
    return items.filter(({ state }) => state !== "here");
  },
  purgeMember: (orgId: string, userId: string, confirm: string) =>
    callApi<unknown>(`${member(orgId, userId)}/purge`, { method: "POST", body: { confirm } }),
  /** The newest of them. */
  listOverseen: async (orgId: string, signal: AbortSignal) => {
    const query = { limit: PAGE_LIMIT };
    const path = `${org(orgId)}/sessions`;
    return (await callApi<Page<OverseenSession>>(path, { query, signal })).items;
  },
  listOrchestrators: async (orgId: string, signal: AbortSignal) =>
    (await callApi<Page<OverseenOrchestrator>>(`${org(orgId)}/orchestrators`, { signal })).items,
  openSession: (orgId: string, id: string, reason: string) =>
    callApi<unknown>(`${org(orgId)}/sessions/${part(id)}/open`, {
      method: "POST",
      body: { reason },
    }),
  changeRole: (orgId: string, userId: string, role: Role) =>
    callApi<unknown>(member(orgId, userId), { method: "PATCH", body: { role } }),
  removeMember: (orgId: string, userId: string) =>
    callApi<unknown>(member(orgId, userId), { method: "DELETE" }),
  listInvitations: (orgId: string, signal: AbortSignal) =>
    readAll<Invitation>(`${org(orgId)}/invitations`, signal),
  invite: (orgId: string, body: { email?: string; role: Role }) =>
    callApi<{ invitation: Invitation; link: string }>(`${org(orgId)}/invitations`, {
      method: "POST",
      body,
    }),
  withdrawInvitation: (orgId: string, id: string) =>
    callApi<unknown>(`${org(orgId)}/invitations/${part(id)}`, { method: "DELETE" }),
};

/** A bound, so that no answer keeps the page asking for ever. */
const MAX_PAGES = 50;
const PAGE_LIMIT = 200;

/** These lists are short, or are searched as a whole. Those given whole know no limit. */
async function readAll<T>(path: string, signal: AbortSignal, limit?: number): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await callApi<Page<T>>(path, { query: { limit, cursor }, signal });
    items.push(...page.items);
    if (page.next === null) break;
    cursor = page.next;
  }
  return items;
}
