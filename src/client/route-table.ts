/**
 * Method and path of every route without its schemas, so that the client carries none into a browser.
 * The type checker compares it with the contracts: a route that is missing or differs does not compile.
 * Made by `node scripts/check/route-table.ts --write`.
 */
import type { RouteTable } from "./api-routes.ts";

export const ROUTE_TABLE = {
  approvals: {
    list: "GET /api/approvals",
    get: "GET /api/approvals/{id}",
    decide: "POST /api/approvals/{id}",
  },
  audit: {
    list: "GET /api/audit",
    verify: "GET /api/audit/verify",
  },
  auth: {
    signIn: "POST /api/auth/sign-in",
    inspectLink: "POST /api/auth/links/inspect",
    acceptInvitation: "POST /api/invitations/{token}/accept",
    signOut: "POST /api/auth/sign-out",
    signOutEverywhere: "POST /api/auth/sign-out-everywhere",
    createLink: "POST /api/auth/links",
    listProviders: "GET /api/auth/providers",
    redirectToProvider: "GET /api/auth/{provider}/start",
    startSignIn: "POST /api/auth/{provider}/start",
    startLink: "POST /api/auth/{provider}/link",
    callback: "GET /api/auth/{provider}/callback",
  },
  briefing: {
    refreshPersona: "POST /api/sessions/{id}/persona",
  },
  delegation: {
    children: "GET /api/sessions/{id}/children",
    detach: "POST /api/sessions/{id}/detach",
  },
  gateway: {
    get: "GET /api/orgs/{orgId}/model-gateway",
    update: "PUT /api/orgs/{orgId}/model-gateway",
    providers: "GET /api/gateway",
  },
  inbox: {
    list: "GET /api/me/inbox",
    count: "GET /api/me/inbox/count",
    thread: "GET /api/me/inbox-threads/{threadId}",
    get: "GET /api/me/inbox/{id}",
    readAll: "PUT /api/me/inbox/read-all",
    readNonActionable: "PUT /api/me/inbox/read-non-actionable",
    read: "PUT /api/me/inbox/{id}/read",
    reply: "POST /api/me/inbox/{id}/reply",
    update: "PATCH /api/me/inbox/{id}",
  },
  mailbox: {
    send: "POST /api/messages",
    emit: "POST /api/notifications/emit",
    letThrough: "POST /api/messages/{id}/let-through",
    preferences: "GET /api/me/notification-preferences",
    setPreference: "PUT /api/me/notification-preferences",
    contacts: "GET /api/me/mail-contacts",
    setContacts: "PUT /api/me/mail-contacts",
  },
  me: {
    get: "GET /api/me",
    update: "PATCH /api/me",
    setPassword: "PUT /api/me/password",
    createApiKey: "POST /api/me/api-keys",
    listApiKeys: "GET /api/me/api-keys",
    revokeApiKey: "DELETE /api/me/api-keys/{id}",
    listAccounts: "GET /api/me/accounts",
    unlinkAccount: "DELETE /api/me/accounts/{id}",
  },
  memory: {
    list: "GET /api/me/memories",
    create: "POST /api/me/memories",
    listSession: "GET /api/me/memories/session",
    createSession: "POST /api/me/memories/session",
    shelves: "GET /api/me/memories/shelves",
    prune: "POST /api/me/memories/prune",
    export: "GET /api/me/memories/export",
    import: "POST /api/me/memories/import",
    get: "GET /api/me/memories/{id}",
    update: "PATCH /api/me/memories/{id}",
    delete: "DELETE /api/me/memories/{id}",
  },
  notifications: {
    list: "GET /api/me/notifications",
    count: "GET /api/me/notifications/count",
    thread: "GET /api/me/notification-threads/{threadId}",
    get: "GET /api/me/notifications/{id}",
    readAll: "PUT /api/me/notifications/read-all",
    readNonActionable: "PUT /api/me/notifications/read-non-actionable",
    read: "PUT /api/me/notifications/{id}/read",
    reply: "POST /api/me/notifications/{id}/reply",
    update: "PATCH /api/me/notifications/{id}",
  },
  routing: {
    prompt: "POST /api/prompt",
  },
  sessionMessages: {
    list: "GET /api/sessions/{id}/messages",
    readAll: "PUT /api/sessions/{id}/messages/read",
  },
  sessionNotifications: {
    list: "GET /api/sessions/{id}/notifications",
    readAll: "PUT /api/sessions/{id}/notifications/read",
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
} as const satisfies RouteTable;
