/**
 * Method and path of every route without its schemas, so that the client carries none into a browser.
 * The type checker compares it with the contracts: a route that is missing or differs does not compile.
 * Made by `node scripts/check/route-table.ts --write`.
 */
import type { RouteTable } from "./api-routes.ts";

export const ROUTE_TABLE = {
  orchestrators: {
    get: "GET /api/me/orchestrator",
    create: "POST /api/me/orchestrator",
    wake: "POST /api/me/orchestrator/wake",
    restart: "POST /api/me/orchestrator/restart",
    getIdentity: "GET /api/me/orchestrator/identity",
    updateIdentity: "PUT /api/me/orchestrator/identity",
    getAvatar: "GET /api/agents/{userId}/avatar",
    checkHandle: "GET /api/me/orchestrator/check-handle",
    getPreferences: "GET /api/me/preferences",
    updatePreferences: "PATCH /api/me/preferences",
    listAgents: "GET /api/me/org-agents",
    listOrgAgents: "GET /api/orgs/{orgId}/agents",
    oversee: "GET /api/orgs/{orgId}/orchestrators",
    getSettings: "GET /api/orgs/{orgId}/orchestrator-settings",
    updateSettings: "PATCH /api/orgs/{orgId}/orchestrator-settings",
  },
  orgSecrets: {
    list: "GET /api/orgs/{orgId}/secrets",
    set: "PUT /api/orgs/{orgId}/secrets/{name}",
    delete: "DELETE /api/orgs/{orgId}/secrets/{name}",
  },
  orgs: {
    get: "GET /api/orgs/{orgId}",
    update: "PATCH /api/orgs/{orgId}",
    listMembers: "GET /api/orgs/{orgId}/members",
    updateMember: "PATCH /api/orgs/{orgId}/members/{userId}",
    removeMember: "DELETE /api/orgs/{orgId}/members/{userId}",
    purgeMember: "POST /api/orgs/{orgId}/members/{userId}/purge",
    invite: "POST /api/orgs/{orgId}/invitations",
    listInvitations: "GET /api/orgs/{orgId}/invitations",
    withdrawInvitation: "DELETE /api/orgs/{orgId}/invitations/{id}",
    listSessions: "GET /api/orgs/{orgId}/sessions",
    openSession: "POST /api/orgs/{orgId}/sessions/{sessionId}/open",
  },
  policy: {
    list: "GET /api/policy",
    create: "POST /api/policy/rules",
    delete: "DELETE /api/policy/rules/{id}",
    preview: "POST /api/policy/preview",
  },
  providers: {
    list: "GET /api/providers",
    set: "PUT /api/providers/{name}",
    delete: "DELETE /api/providers/{name}",
  },
  repos: {
    list: "GET /api/orgs/{orgId}/repos",
    create: "POST /api/orgs/{orgId}/repos",
    sync: "POST /api/orgs/{orgId}/repos/sync",
    get: "GET /api/orgs/{orgId}/repos/{repoId}",
    update: "PATCH /api/orgs/{orgId}/repos/{repoId}",
    updateByPut: "PUT /api/orgs/{orgId}/repos/{repoId}",
    delete: "DELETE /api/orgs/{orgId}/repos/{repoId}",
    getPersona: "GET /api/orgs/{orgId}/repos/{repoId}/persona",
    setPersona: "PUT /api/orgs/{orgId}/repos/{repoId}/persona",
  },
  search: {
    find: "GET /api/search",
  },
  secrets: {
    list: "GET /api/me/secrets",
    set: "PUT /api/me/secrets/{name}",
    delete: "DELETE /api/me/secrets/{name}",
  },
  storage: {
    get: "GET /api/storage",
    listRetention: "GET /api/retention",
    setRetention: "PUT /api/retention/{name}",
  },
  supervision: {
    getConfig: "GET /api/orchestration/config",
    get: "GET /api/orchestration/sessions/{id}",
    listWorkers: "GET /api/orchestration/sessions/{id}/workers",
    readInbox: "GET /api/orchestration/sessions/{id}/inbox",
    enable: "POST /api/orchestration/sessions/{id}/enable",
    disable: "POST /api/orchestration/sessions/{id}/disable",
    clearInbox: "POST /api/orchestration/sessions/{id}/inbox/clear",
    detachWorker: "POST /api/orchestration/sessions/{id}/workers/{workerId}/detach",
    killWorker: "POST /api/orchestration/sessions/{id}/workers/{workerId}/kill",
    resumeWorker: "POST /api/orchestration/sessions/{id}/workers/{workerId}/resume",
  },
  tasks: {
    byId: "GET /api/tasks",
    list: "GET /api/sessions/{id}/tasks",
    create: "POST /api/sessions/{id}/tasks",
    ready: "GET /api/sessions/{id}/tasks/ready",
    mine: "GET /api/sessions/{id}/my-tasks",
    get: "GET /api/sessions/{id}/tasks/{taskId}",
    update: "PUT /api/sessions/{id}/tasks/{taskId}",
    delete: "DELETE /api/sessions/{id}/tasks/{taskId}",
  },
  usage: {
    list: "GET /api/usage",
  },
} as const satisfies RouteTable;
