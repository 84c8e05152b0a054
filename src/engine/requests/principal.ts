/**
 * The caller of a request. A principal is always made from the server's own record (a credential, a
 * run), never from something a request says about itself.
 */
import { notFound, Refusal } from "#base/refusal.ts";

export type Principal =
  | {
      kind: "user";
      orgId: string;
      userId: string;
      name: string;
      role: "admin" | "member";
      scopes: readonly string[];
      /** Surface that this person speaks from. */
      channel: "web" | "api";
    }
  | {
      kind: "session";
      orgId: string;
      sessionId: string;
      ownerId: string | null;
      name: string;
      /** Attempt that the session acts for, when it came with a run token. */
      run?: { runId: string; fence: number };
    }
  | {
      kind: "runner";
      orgId: string;
      credentialId: string;
      scope: string;
      /** sha256 of the token: a machine's proof of identity is bound to it. */
      tokenHash?: string;
      /** Tags of the token; the runner has them besides its own. */
      tags: readonly string[];
      name: string;
    }
  | { kind: "system"; orgId: string; name: string };

/** Permitted actions on things, in one table. */
export type Action =
  | "session.read"
  | "session.prompt"
  | "session.manage"
  | "session.create"
  | "session.use_folder"
  | "session.oversee"
  | "runner.read"
  | "runner.own"
  | "runner.manage"
  | "runner.unsandbox"
  | "runner.connect"
  | "approval.read"
  | "approval.decide"
  | "policy.read"
  | "policy.manage"
  | "provider.read"
  | "provider.manage"
  | "org.read"
  | "org.manage"
  | "account.manage"
  | "secret.read"
  | "secret.manage"
  | "secret.manage_org"
  | "repo.read"
  | "repo.manage"
  | "persona.read"
  | "persona.manage"
  | "persona.administer"
  | "task.read"
  | "task.write"
  | "audit.read"
  | "usage.read"
  | "memory.read"
  | "memory.write"
  | "mail.read"
  | "mail.write"
  | "operate";

/** Facts about the thing acted on. */
export interface Resource {
  orgId: string;
  ownerId?: string | null;
  sessionId?: string;
  parentSessionId?: string | null;
}

/** Facts about a session that permissions need. */
export function sessionResource(row: {
  org_id: string;
  owner_id: string | null;
  id: string;
  parent_session_id: string | null;
}): Resource {
  return {
    orgId: row.org_id,
    ownerId: row.owner_id,
    sessionId: row.id,
    parentSessionId: row.parent_session_id,
  };
}

/**
 * Scopes of API keys by action; one of several is enough. Approvals and runners are not implied by
 * anything else: whoever decides approvals decides what agents do, and a runner reads every prompt it
 * is given.
 */
const SCOPE_OF: Partial<Record<Action, string | readonly string[]>> = {
  "session.read": "sessions:read",
  "session.prompt": "sessions:write",
  "session.manage": "sessions:write",
  "session.create": "sessions:write",
  "session.use_folder": "admin",
  "session.oversee": "admin",
  "runner.read": ["sessions:read", "runners"],
  "runner.own": "runners",
  "runner.manage": "admin",
  // Needs a signed-in person or the owner's key: no key of narrower scope is enough.
  "runner.unsandbox": "*",
  "approval.read": ["sessions:read", "approvals"],
  "approval.decide": "approvals",
  "policy.read": "sessions:read",
  "policy.manage": "admin",
  "provider.read": "sessions:read",
  "provider.manage": "admin",
  "org.read": "sessions:read",
  "org.manage": "admin",
  "account.manage": "account",
  "secret.read": "secrets",
  "secret.manage": "secrets",
  "secret.manage_org": "admin",
  "repo.read": "sessions:read",
  "repo.manage": "admin",
  "persona.read": "sessions:read",
  "persona.manage": "sessions:write",
  "persona.administer": "admin",
  "task.read": "tasks",
  "task.write": "tasks",
  "audit.read": "admin",
  "usage.read": "sessions:read",
  "memory.read": "memory",
  "memory.write": "memory",
  "mail.read": "mail",
  "mail.write": "mail",
  operate: "admin",
};

const ADMIN_ONLY: ReadonlySet<Action> = new Set([
  "session.use_folder",
  "session.oversee",
  "runner.manage",
  "policy.manage",
  "provider.manage",
  "org.manage",
  "secret.manage_org",
  "repo.manage",
  "persona.administer",
  "audit.read",
  "operate",
]);

/** Decides who may do what; the only place that does. */
export function may(principal: Principal, action: Action, resource: Resource): boolean {
  if (principal.orgId !== resource.orgId) return false;
  switch (principal.kind) {
    case "system":
      return true;
    case "runner":
      return action === "runner.connect";
    case "session":
      return mayAgent(principal, action, resource);
    case "user":
      return mayUser(principal, action, resource);
  }
}

function mayUser(
  user: Extract<Principal, { kind: "user" }>,
  action: Action,
  resource: Resource,
): boolean {
  if (!hasScope(user, SCOPE_OF[action])) return false;
  if (ADMIN_ONLY.has(action)) return user.role === "admin";
  // A machine that works for everybody has no owner.
  if (action === "runner.unsandbox" && resource.ownerId === null) return user.role === "admin";
  return resource.ownerId === undefined || resource.ownerId === user.userId;
}

function hasScope(
  { scopes }: Extract<Principal, { kind: "user" }>,
  needed: string | readonly string[] | undefined,
): boolean {
  if (needed === undefined) return false;
  const anyOf = typeof needed === "string" ? [needed] : needed;
  return scopes.includes("*") || anyOf.some((scope) => scopes.includes(scope));
}

/** An agent sees itself and its children, and may prompt its children. */
function mayAgent(
  agent: Extract<Principal, { kind: "session" }>,
  action: Action,
  resource: Resource,
): boolean {
  const own = resource.sessionId === agent.sessionId;
  const child = resource.parentSessionId === agent.sessionId;
  if (action === "session.read") return own || child;
  return action === "session.prompt" && child;
}

export function principalKey(principal: Principal): string {
  switch (principal.kind) {
    case "user":
      return `user:${principal.userId}`;
    case "session":
      return `session:${principal.sessionId}`;
    case "runner":
      return `runner:${principal.credentialId}`;
    case "system":
      return "system";
  }
}

/**
 * Party that answers for a principal: a person, with their keys, machines and agents. Limits on
 * shared resources count by party.
 */
export function partyOf(principal: Principal): string {
  switch (principal.kind) {
    case "session":
      return principal.ownerId === null ? principalKey(principal) : `user:${principal.ownerId}`;
    case "runner":
      // Admins let in an organisation's own machines, which work for many.
      return principal.scope.startsWith("user:") ? principal.scope : principalKey(principal);
    default:
      return principalKey(principal);
  }
}

/** Checks an action on no thing in particular: the caller is known, but may lack the right. */
export function requireMay(principal: Principal, action: Action): void {
  if (may(principal, action, { orgId: principal.orgId })) return;
  throw new Refusal(
    "forbidden",
    "forbidden",
    `This credential may not do that (${action}). Use one with the right scope or role.`,
  );
}

/**
 * True for a person who has signed in, and for the owner's key. No API key has the scope `*`, nor has
 * a browser that was opened with one.
 */
function isSignedIn(principal: Principal): boolean {
  return principal.kind === "user" && principal.scopes.includes("*");
}

/** Guards decisions that outlast the key they would be made with, such as rules and invitations. */
export function requireSignedIn(principal: Principal, what: string): void {
  if (isSignedIn(principal)) return;
  throw new Refusal(
    "forbidden",
    "sign_in_needed",
    `${what} needs a person who has signed in, or the owner's key; an API key is not enough. Do it on the page.`,
  );
}

/** Checks a path that names an organisation: another organisation answers as if it did not exist. */
export function requireOrg(principal: Principal, orgId: string | undefined): string {
  if (orgId !== principal.orgId) throw notFound("organisation");
  return orgId;
}
