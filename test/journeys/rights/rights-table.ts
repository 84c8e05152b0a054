/** Rights by route: the statuses that `rights.test.ts` must see, in the order of CALLERS. */
import { PASSWORD } from "#test/clients/people.ts";

export const CALLERS = ["anonymous", "runner", "agent", "narrow", "other", "admin", "own"] as const;
export type Caller = (typeof CALLERS)[number];

interface Row {
  who: string;
  /** A valid body; a function when it must be new each time. */
  body?: unknown;
  query?: string;
  /** The caller must sign in again afterwards. */
  signsOut?: true;
}

export const RIGHTS: Readonly<Record<string, Row>> = {
  // Personal things are hidden from everyone else, admins included.
  "GET /api/sessions/{id}": { who: "401 404 404 404 404 404 200" },
  "PATCH /api/sessions/{id}": { who: "401 404 404 404 404 404 200", body: { title: "t" } },
  "DELETE /api/sessions/{id}": { who: "401 404 404 404 404 404 200" },
  "POST /api/sessions/{id}/stop": { who: "401 404 404 404 404 404 200", body: {} },
  "POST /api/sessions/{id}/hibernate": { who: "401 404 404 404 404 404 200", body: {} },
  "POST /api/sessions/{id}/wake": { who: "401 404 404 404 404 404 200", body: {} },
  // The session in the table has no files anywhere.
  "POST /api/sessions/{id}/relocate": { who: "401 404 404 404 404 404 409", body: {} },
  "POST /api/sessions/{id}/archive": { who: "401 404 404 404 404 404 200", body: {} },
  "POST /api/sessions/{id}/terminate": { who: "401 404 404 404 404 404 200", body: {} },
  "POST /api/sessions/{id}/clear": { who: "401 404 404 404 404 404 200", body: {} },
  "POST /api/sessions/{id}/persona": { who: "401 404 404 404 404 404 404", body: {} },
  // An admin may redact without reading; the session in the table has no entries.
  "POST /api/sessions/{id}/entries/{entryId}/redact": {
    who: "401 404 404 404 404 404 404",
    body: {},
  },
  "GET /api/sessions/{id}/transcript": { who: "401 404 404 404 404 404 200" },
  "GET /api/sessions/{id}/events": { who: "401 404 404 404 404 404 200" },
  "GET /api/sessions/{id}/changes": { who: "401 404 404 404 404 404 200" },
  "GET /api/sessions/{id}/children": { who: "401 404 404 404 404 404 200" },
  // The session in the table has no parent.
  "POST /api/sessions/{id}/detach": { who: "401 404 404 404 404 404 409", body: {} },
  "GET /api/sessions/{id}/prompts": { who: "401 404 404 404 404 404 200" },
  "POST /api/sessions/{id}/prompts": { who: "401 404 404 404 404 404 202", body: { content: "x" } },
  "POST /api/sessions/{id}/previews": { who: "401 404 404 404 404 404 201", body: {} },
  "GET /api/sessions/{id}/tasks": { who: "401 404 404 404 404 404 200" },
  "POST /api/sessions/{id}/tasks": {
    who: "401 404 404 404 404 404 201",
    body: { title: "t" },
  },
  "GET /api/sessions/{id}/tasks/ready": { who: "401 404 404 404 404 404 200" },
  "GET /api/sessions/{id}/my-tasks": { who: "401 404 404 404 404 404 200" },
  "GET /api/sessions/{id}/tasks/{taskId}": { who: "401 404 404 404 404 404 200" },
  "PUT /api/sessions/{id}/tasks/{taskId}": {
    who: "401 404 404 404 404 404 200",
    body: { title: "u" },
  },
  "DELETE /api/sessions/{id}/tasks/{taskId}": { who: "401 404 404 404 404 404 200" },
  // Only the session's owner switches supervisor mode.
  "GET /api/orchestration/config": { who: "401 403 403 403 200 200 200" },
  "GET /api/orchestration/sessions/{id}": { who: "401 404 404 404 404 404 200" },
  "POST /api/orchestration/sessions/{id}/enable": { who: "401 404 404 404 404 404 200", body: {} },
  "POST /api/orchestration/sessions/{id}/disable": { who: "401 404 404 404 404 404 200", body: {} },
  "GET /api/orchestration/sessions/{id}/workers": { who: "401 404 404 404 404 404 200" },
  "GET /api/orchestration/sessions/{id}/inbox": { who: "401 404 404 404 404 404 200" },
  "POST /api/orchestration/sessions/{id}/inbox/clear": {
    who: "401 404 404 404 404 404 200",
    body: {},
  },
  "POST /api/orchestration/sessions/{id}/workers/{workerId}/detach": {
    who: "401 404 404 404 404 404 200",
    body: {},
  },
  "POST /api/orchestration/sessions/{id}/workers/{workerId}/kill": {
    who: "401 404 404 404 404 404 200",
    body: {},
  },
  "POST /api/orchestration/sessions/{id}/workers/{workerId}/resume": {
    who: "401 404 404 404 404 404 200",
    body: {},
  },
  "GET /api/prompts/{id}": { who: "401 404 404 404 404 404 200" },
  "PATCH /api/prompts/{id}": { who: "401 404 404 404 404 404 200", body: { content: "y" } },
  "DELETE /api/prompts/{id}": { who: "401 404 404 404 404 404 200" },
  "POST /api/prompts/{id}/promote": { who: "401 404 404 404 404 404 200", body: {} },
  // The prompt in the table is still pending.
  "POST /api/prompts/{id}/retry": { who: "401 404 404 404 404 404 409", body: {} },
  // An admin may redact without reading; the prompt in the table has not settled.
  "POST /api/prompts/{id}/redact": { who: "401 404 404 404 404 409 409", body: {} },
  "GET /api/prompts/{id}/attachments/{sha256}": { who: "401 404 404 404 404 404 200" },
  "GET /api/runs/{id}": { who: "401 404 404 404 404 404 200" },
  "GET /api/runs/{id}/result": { who: "401 404 404 404 404 404 409" },
  "POST /api/runs/{id}/stop": { who: "401 404 404 404 404 404 200", body: {} },
  "GET /api/approvals/{id}": { who: "401 403 403 404 404 404 200" },
  "POST /api/approvals/{id}": { who: "401 403 403 404 404 404 200", body: { decision: "deny" } },
  "DELETE /api/policy/rules/{id}": { who: "401 403 403 403 404 404 200" },
  // Open to every member with a credential of sufficient scope.
  "GET /api/tasks": { who: "401 403 403 403 200 200 200", query: "?ids=tsk_none" },
  "GET /api/sessions": { who: "401 403 403 403 200 200 200" },
  "POST /api/sessions": { who: "401 403 403 403 201 201 201", body: { runtime: "echo" } },
  "GET /api/runs": { who: "401 404 404 404 404 404 404", query: "?session=ses_none" },
  "POST /api/runs": {
    who: "401 403 403 403 201 201 201",
    body: { type: "start_session", prompt: "x", runtime: "echo" },
  },
  "GET /api/approvals": { who: "401 403 403 403 200 200 200" },
  "GET /api/audit": { who: "401 403 403 403 200 200 200" },
  "GET /api/usage": { who: "401 403 403 403 200 200 200" },
  "GET /api/models": { who: "401 403 403 403 200 200 200" },
  "GET /api/runtimes": { who: "401 403 403 403 200 200 200" },
  "GET /api/runners": { who: "401 403 403 403 200 200 200" },
  "GET /api/providers": { who: "401 403 403 403 200 200 200" },
  "GET /api/policy": { who: "401 403 403 403 200 200 200" },
  "POST /api/policy/rules": {
    who: "401 403 403 403 201 201 201",
    body: { tool: "bash", pattern: "ls", effect: "allow" },
  },
  "POST /api/policy/preview": {
    who: "401 403 403 403 200 200 200",
    body: { tool: "bash", target: "ls" },
  },
  "GET /api/orgs/{orgId}": { who: "401 403 403 403 200 200 200" },
  "GET /api/orgs/{orgId}/members": { who: "401 403 403 403 200 200 200" },
  "POST /api/runners/tokens": { who: "401 403 403 403 201 201 201", body: { name: "r" } },
  "GET /api/runners/tokens": { who: "401 403 403 403 200 200 200" },
  "DELETE /api/runner-tokens/{id}": { who: "401 403 403 403 404 200 200" },
  // The machine in the table belongs to a person and is offline.
  "POST /api/runners/{id}/unsandboxed": { who: "401 403 403 403 404 403 200", body: {} },
  "DELETE /api/runners/{id}/unsandboxed": { who: "401 403 403 403 404 200 200" },
  "POST /api/runners/{id}/look": { who: "401 403 403 403 404 409 409", body: {} },
  "DELETE /api/runners/{id}": { who: "401 403 403 403 404 200 200" },
  // One's own account.
  "GET /api/me": { who: "401 403 403 200 200 200 200" },
  "PATCH /api/me": { who: "401 403 403 403 200 200 200", body: { locale: "en" } },
  "GET /api/me/api-keys": { who: "401 403 403 403 200 200 200" },
  "POST /api/me/api-keys": {
    who: "401 403 403 403 201 201 201",
    body: { name: "k", scopes: ["mail"] },
  },
  "DELETE /api/me/api-keys/{id}": { who: "401 403 403 403 404 404 200" },
  "POST /api/auth/links": { who: "401 403 403 201 201 201 201", body: {} },
  "PUT /api/me/password": {
    who: "401 403 403 403 200 200 200",
    body: { currentPassword: PASSWORD, newPassword: PASSWORD },
    signsOut: true,
  },
  "POST /api/auth/sign-out": { who: "401 403 403 200 200 200 200", body: {}, signsOut: true },
  "POST /api/auth/sign-out-everywhere": {
    who: "401 403 403 403 200 200 200",
    body: {},
    signsOut: true,
  },
  "GET /api/me/accounts": { who: "401 403 403 403 200 200 200" },
  "DELETE /api/me/accounts/{id}": { who: "401 403 403 403 404 404 200", signsOut: true },
  // Only a browser can go to a service and come back; the owner's key cannot.
  "POST /api/auth/{provider}/link": {
    who: "401 403 403 403 200 403 200",
    body: { currentPassword: PASSWORD },
  },
  // Everyone has their own orchestrator; the first request creates it.
  "GET /api/me/orchestrator": { who: "401 403 403 403 200 200 200" },
  "POST /api/me/orchestrator": { who: "401 403 403 403 201 201 201", body: {} },
  "POST /api/me/orchestrator/wake": { who: "401 403 403 403 200 200 200", body: {} },
  "POST /api/me/orchestrator/restart": { who: "401 403 403 403 200 200 200", body: {} },
  "GET /api/me/orchestrator/identity": { who: "401 403 403 403 200 200 200" },
  "PUT /api/me/orchestrator/identity": {
    who: "401 403 403 403 200 200 200",
    body: { style: "terse" },
  },
  "GET /api/me/orchestrator/check-handle": {
    who: "401 403 403 403 200 200 200",
    query: "?handle=jarvis",
  },
  "GET /api/me/preferences": { who: "401 403 403 403 200 200 200" },
  "PATCH /api/me/preferences": {
    who: "401 403 403 403 200 200 200",
    body: { queueMode: "collect" },
  },
  "POST /api/prompt": { who: "401 403 403 403 202 202 202", body: { content: "x" } },
  // Nobody here has uploaded an image.
  "GET /api/agents/{userId}/avatar": { who: "401 403 403 403 404 404 404" },
  "GET /api/me/org-agents": { who: "401 403 403 403 200 200 200" },
  "GET /api/orgs/{orgId}/agents": { who: "401 403 403 403 200 200 200" },
  "GET /api/orgs/{orgId}/orchestrator-settings": { who: "401 403 403 403 200 200 200" },
  // Memories are private; a key needs the scope for them. Search leaves out results outside the
  // key's scope: the narrow key may read messages.
  "GET /api/search": { who: "401 403 403 200 200 200 200", query: "?q=x" },
  "GET /api/me/memories": { who: "401 403 403 403 200 200 200", query: "?query=x" },
  "POST /api/me/memories": { who: "401 403 403 403 201 201 201", body: { content: "x" } },
  "GET /api/me/memories/session": { who: "401 403 403 403 200 200 200" },
  "POST /api/me/memories/session": { who: "401 403 403 403 201 201 201", body: { content: "x" } },
  "GET /api/me/memories/shelves": { who: "401 403 403 403 200 200 200" },
  "POST /api/me/memories/prune": { who: "401 403 403 403 200 200 200", body: {} },
  "GET /api/me/memories/export": { who: "401 403 403 403 200 200 200" },
  "POST /api/me/memories/import": { who: "401 403 403 403 200 200 200", body: { files: [] } },
  "GET /api/me/memories/{id}": { who: "401 403 403 403 404 404 200" },
  "PATCH /api/me/memories/{id}": { who: "401 403 403 403 404 404 200", body: { pinned: false } },
  "DELETE /api/me/memories/{id}": { who: "401 403 403 403 404 404 200" },
  // The narrow key has the scope for mail and belongs to the same person.
  "GET /api/me/inbox": { who: "401 403 403 200 200 200 200" },
  "GET /api/me/inbox/count": { who: "401 403 403 200 200 200 200" },
  "GET /api/me/inbox-threads/{threadId}": { who: "401 403 403 200 404 404 200" },
  "PUT /api/me/inbox/read-all": { who: "401 403 403 200 200 200 200" },
  "PUT /api/me/inbox/read-non-actionable": { who: "401 403 403 200 200 200 200" },
  "GET /api/me/inbox/{id}": { who: "401 403 403 200 404 404 200" },
  "PATCH /api/me/inbox/{id}": { who: "401 403 403 200 404 404 200", body: { read: true } },
  "PUT /api/me/inbox/{id}/read": { who: "401 403 403 200 404 404 200" },
  "POST /api/me/inbox/{id}/reply": { who: "401 403 403 201 404 404 201", body: { content: "x" } },
  "GET /api/me/notifications": { who: "401 403 403 200 200 200 200" },
  "GET /api/me/notifications/count": { who: "401 403 403 200 200 200 200" },
  "GET /api/me/notification-threads/{threadId}": { who: "401 403 403 200 404 404 200" },
  "PUT /api/me/notifications/read-all": { who: "401 403 403 200 200 200 200" },
  "PUT /api/me/notifications/read-non-actionable": { who: "401 403 403 200 200 200 200" },
  "GET /api/me/notifications/{id}": { who: "401 403 403 200 404 404 200" },
  "PATCH /api/me/notifications/{id}": { who: "401 403 403 200 404 404 200", body: { read: true } },
  "PUT /api/me/notifications/{id}/read": { who: "401 403 403 200 404 404 200" },
  "POST /api/me/notifications/{id}/reply": {
    who: "401 403 403 201 404 404 201",
    body: { content: "x" },
  },
  "GET /api/me/notification-preferences": { who: "401 403 403 200 200 200 200" },
  "PUT /api/me/notification-preferences": {
    who: "401 403 403 200 200 200 200",
    body: { messageType: "message", deliverEmail: true },
  },
  "GET /api/me/mail-contacts": { who: "401 403 403 200 200 200 200" },
  "PUT /api/me/mail-contacts": { who: "401 403 403 403 200 200 200", body: { userIds: [] } },
  "POST /api/messages": {
    who: "401 403 403 201 201 201 201",
    body: { to: "@user:Ann", content: "x" },
  },
  // The message in the table is to a person, and is no request to their agent.
  "POST /api/messages/{id}/let-through": { who: "401 403 403 409 404 404 409", body: {} },
  "POST /api/notifications/emit": {
    who: "401 403 403 201 201 201 201",
    body: { to: "@user:Ann", content: "x" },
  },
  "GET /api/sessions/{id}/messages": { who: "401 404 404 200 404 404 200" },
  "GET /api/sessions/{id}/notifications": { who: "401 404 404 200 404 404 200" },
  "PUT /api/sessions/{id}/messages/read": { who: "401 404 404 200 404 404 200", body: {} },
  "PUT /api/sessions/{id}/notifications/read": { who: "401 404 404 200 404 404 200", body: {} },
  "GET /api/me/secrets": { who: "401 403 403 403 200 200 200" },
  "PUT /api/me/secrets/{name}": { who: "401 403 403 403 200 200 200", body: { value: "v" } },
  "DELETE /api/me/secrets/{name}": { who: "401 403 403 403 200 200 200" },
  // Signing in needs no credential.
  "POST /api/auth/sign-in": {
    who: "401 401 401 401 401 401 401",
    body: { token: "mst_link_none" },
  },
  "POST /api/auth/links/inspect": {
    who: "401 401 401 401 401 401 401",
    body: { token: "mst_link_none" },
  },
  "POST /api/invitations/{token}/accept": {
    who: "201 201 201 201 201 201 201",
    body: (n: number) => ({ name: "Guest", email: `guest${n}@example.org`, password: PASSWORD }),
  },
  "GET /api/auth/providers": { who: "200 200 200 200 200 200 200" },
  "GET /api/auth/{provider}/start": { who: "302 302 302 302 302 302 302" },
  "POST /api/auth/{provider}/start": {
    who: "200 200 200 200 200 200 200",
    body: { invitation: "mst_inv_none" },
  },
  "GET /api/auth/{provider}/callback": { who: "302 302 302 302 302 302 302" },
  // Admin actions for the whole organisation.
  "PATCH /api/orgs/{orgId}": { who: "401 403 403 403 403 200 403", body: { name: "Crew" } },
  "PATCH /api/orgs/{orgId}/members/{userId}": {
    who: "401 403 403 403 403 200 403",
    body: { role: "member" },
  },
  "DELETE /api/orgs/{orgId}/members/{userId}": { who: "401 403 403 403 403 200 403" },
  // Vic was removed just before.
  "POST /api/orgs/{orgId}/members/{userId}/purge": {
    who: "401 403 403 403 403 202 403",
    body: { confirm: "Vic" },
  },
  "GET /api/orgs/{orgId}/orchestrators": { who: "401 403 403 403 403 200 403" },
  "PATCH /api/orgs/{orgId}/orchestrator-settings": {
    who: "401 403 403 403 403 200 403",
    body: { model: null },
  },
  "GET /api/orgs/{orgId}/sessions": { who: "401 403 403 403 403 200 403" },
  "POST /api/orgs/{orgId}/sessions/{sessionId}/open": {
    who: "401 403 403 403 403 200 403",
    body: { reason: "an incident" },
  },
  "GET /api/orgs/{orgId}/invitations": { who: "401 403 403 403 403 200 403" },
  "POST /api/orgs/{orgId}/invitations": { who: "401 403 403 403 403 201 403", body: {} },
  "DELETE /api/orgs/{orgId}/invitations/{id}": { who: "401 403 403 403 403 200 403" },
  "GET /api/audit/verify": { who: "401 403 403 403 403 200 403" },
  "PUT /api/providers/{name}": { who: "401 403 403 403 403 200 403", body: { kind: "anthropic" } },
  "DELETE /api/providers/{name}": { who: "401 403 403 403 403 200 403" },
  // Personas belong to their maker until they are shared; admins maintain them.
  "GET /api/orgs/{orgId}/personas": { who: "401 403 403 403 200 200 200" },
  "POST /api/orgs/{orgId}/personas": {
    who: "401 403 403 403 201 201 201",
    body: (n: number) => ({ name: `Made ${n}` }),
  },
  "GET /api/orgs/{orgId}/personas/{id}": { who: "401 403 403 403 404 404 200" },
  "PUT /api/orgs/{orgId}/personas/{id}": {
    who: "401 403 403 403 404 404 200",
    body: { name: "Q" },
  },
  "PATCH /api/orgs/{orgId}/personas/{id}": {
    who: "401 403 403 403 404 404 200",
    body: { name: "Q" },
  },
  "PUT /api/orgs/{orgId}/personas/{id}/files": {
    who: "401 403 403 403 404 404 200",
    body: { files: [] },
  },
  "GET /api/orgs/{orgId}/personas/{id}/skills": { who: "401 403 403 403 404 404 200" },
  "PUT /api/orgs/{orgId}/personas/{id}/skills/{name}": {
    who: "401 403 403 403 404 404 200",
    body: {
      files: [{ path: "SKILL.md", content: "---\nname: skill\ndescription: d\n---\n" }],
    },
  },
  "DELETE /api/orgs/{orgId}/personas/{id}/skills/{name}": { who: "401 403 403 403 404 404 200" },
  // A member may not make the server call its own network, whoever owns the persona.
  "POST /api/orgs/{orgId}/personas/{id}/skills/import": {
    who: "401 403 403 403 404 404 403",
    body: { url: "https://127.0.0.1/a.git" },
  },
  "DELETE /api/orgs/{orgId}/personas/{id}": { who: "401 403 403 403 404 404 200" },
  "GET /api/orgs/{orgId}/personas/{id}/versions": { who: "401 403 403 403 404 404 200" },
  "GET /api/orgs/{orgId}/personas/{id}/versions/{n}": { who: "401 403 403 403 404 404 200" },
  "PUT /api/orgs/{orgId}/personas/{id}/default": { who: "401 403 403 403 403 404 403", body: {} },
  "DELETE /api/orgs/{orgId}/personas/{id}/default": { who: "401 403 403 403 403 404 403" },
  // Repositories belong to the organisation.
  "GET /api/orgs/{orgId}/repos": { who: "401 403 403 403 200 200 200" },
  "GET /api/orgs/{orgId}/repos/{repoId}": { who: "401 403 403 403 200 200 200" },
  "GET /api/orgs/{orgId}/repos/{repoId}/persona": { who: "401 403 403 403 200 200 200" },
  "POST /api/orgs/{orgId}/repos": {
    who: "401 403 403 403 403 201 403",
    body: (n: number) => ({ url: `https://example.org/team/new${n}.git` }),
  },
  "PATCH /api/orgs/{orgId}/repos/{repoId}": {
    who: "401 403 403 403 403 200 403",
    body: { description: "d" },
  },
  "PUT /api/orgs/{orgId}/repos/{repoId}": {
    who: "401 403 403 403 403 200 403",
    body: { description: "d" },
  },
  "DELETE /api/orgs/{orgId}/repos/{repoId}": { who: "401 403 403 403 403 200 403" },
  "PUT /api/orgs/{orgId}/repos/{repoId}/persona": {
    who: "401 403 403 403 403 200 403",
    body: { personaSlug: null },
  },
  "POST /api/orgs/{orgId}/repos/sync": { who: "401 403 403 403 403 409 403", body: {} },
  // Organisation secrets: everyone sees the names, admins change them.
  "GET /api/orgs/{orgId}/secrets": { who: "401 403 403 403 200 200 200" },
  "PUT /api/orgs/{orgId}/secrets/{name}": {
    who: "401 403 403 403 403 200 403",
    body: { value: "v" },
  },
  "DELETE /api/orgs/{orgId}/secrets/{name}": { who: "401 403 403 403 403 200 403" },
  // Admins decide which machines reach the organisation's models.
  "GET /api/orgs/{orgId}/model-gateway": { who: "401 403 403 403 200 200 200" },
  "PUT /api/orgs/{orgId}/model-gateway": { who: "401 403 403 403 403 200 403", body: {} },
  // Disk figures are for the server's operators.
  "GET /api/disk": { who: "401 403 403 403 403 200 403" },
  "GET /api/storage": { who: "401 403 403 403 403 200 403" },
  "GET /api/retention": { who: "401 403 403 403 403 200 403" },
  "PUT /api/retention/{name}": { who: "401 403 403 403 403 200 403", body: { days: 400 } },
  // For runners only.
  "GET /api/gateway": { who: "401 200 403 403 403 403 403" },
};

/** Paths that the API document does not list. */
export const UNDOCUMENTED: [path: string, who: string][] = [
  ["/health", "200 200 200 200 200 200 200"],
  ["/ready", "200 200 200 200 200 200 200"],
  ["/metrics", "401 403 403 403 403 200 403"],
  ["/api/openapi.json", "401 200 200 200 200 200 200"],
  ["/api/docs", "401 200 200 200 200 200 200"],
  ["/api/docs/start.js", "401 200 200 200 200 200 200"],
  ["/api/nothing", "401 404 404 404 404 404 404"],
  ["/api/gateway/lab/v1/models", "401 404 403 403 403 403 403"],
  ["/preview/none", "404 404 404 404 404 404 404"],
  // Only a key counts, and only POST is answered.
  ["/mcp", "401 403 405 405 401 405 401"],
];

export const SOCKETS: [path: string, who: string][] = [
  ["/api/live", "401 404 101 101 101 101 101"],
  ["/api/runners/connect", "401 101 404 404 404 404 404"],
  ["/api/elsewhere", "401 404 404 404 404 404 404"],
];
