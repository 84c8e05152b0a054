/** Creates, removes and lists rules. Members make rules for themselves, admins for everyone. */
import { notFound, Refusal } from "#base/refusal.ts";
import { cleanText } from "#base/text/clean-text.ts";
import { may, type Principal, requireSignedIn, type SessionRow, type Work } from "#engine/index.ts";
import { MAX_GLOB_CHARS, type NewRule, type Rule } from "../contract.ts";
import { countRules, deleteRule, deleteSessionRules, findRule, insertRule } from "../queries.ts";
import type { PolicyRuleRow } from "../schema.ts";
import { defaultMatch } from "./patterns.ts";

export type UserPrincipal = Extract<Principal, { kind: "user" }>;

const MAX_RULES = 1_000;

/** Requires a person: an agent must not widen its own permissions. */
export function requireUser(principal: Principal): UserPrincipal {
  if (principal.kind === "user") return principal;
  throw new Refusal(
    "forbidden",
    "people_only",
    "Only a person may do this. Ask the owner of the session.",
  );
}

export function ruleView(row: PolicyRuleRow): Rule {
  return {
    id: row.id,
    level: row.level,
    sessionId: row.session_id,
    coversChildren: row.child_key !== null,
    sandboxedOnly: row.sandboxed_only === 1,
    tool: row.tool,
    pattern: row.pattern,
    match: row.match,
    effect: row.effect,
    note: row.note,
    createdBy: row.created_by,
    createdAt: new Date(row.created_at).toISOString(),
  };
}

export async function makeRule(
  work: Work,
  principal: UserPrincipal,
  id: string,
  wanted: NewRule,
): Promise<Rule> {
  requireRight(principal, wanted.level);
  if (wanted.sessionId !== undefined) {
    if (wanted.level === "org")
      throw invalid(
        "A rule of the organisation applies to all sessions. Leave sessionId out, or use level user.",
      );
    await requireOwnSession(work, principal, wanted.sessionId);
  }
  const match = wanted.match ?? defaultMatch(wanted.tool, wanted.pattern);
  if (match === "glob" && wanted.pattern.length > MAX_GLOB_CHARS)
    throw invalid(
      `A pattern with * or ? has at most ${MAX_GLOB_CHARS} characters. Shorten it, or use match exact.`,
    );
  if (match === "glob" && wanted.effect === "allow" && wanted.tool === "web_fetch")
    refuseWideAddress(wanted.pattern);
  return addRule(work, {
    id,
    org_id: principal.orgId,
    level: wanted.level,
    user_id: wanted.level === "org" ? null : principal.userId,
    session_id: wanted.sessionId ?? null,
    child_key: null,
    sandboxed_only: 0,
    tool: wanted.tool,
    pattern: cleanText(wanted.pattern),
    match,
    effect: wanted.effect,
    note: wanted.note === undefined ? null : cleanText(wanted.note),
    created_by: principal.userId,
    created_at: work.now,
  });
}

async function addRule(work: Work, row: PolicyRuleRow): Promise<Rule> {
  if ((await countRules(work.tx, row.org_id, row.user_id)) >= MAX_RULES)
    throw new Refusal(
      "limit",
      "rule_limit_reached",
      `There are already ${MAX_RULES} rules. Remove some, or combine them with a pattern.`,
    );
  await insertRule(work.tx, row);
  await work.reportChange(changeOf(row, row.created_by, "made"));
  return ruleView(row);
}

function changeOf({ org_id: orgId, id, level }: PolicyRuleRow, userId: string, action: string) {
  const area = level === "org" ? "org_rule" : "rule";
  return { orgId, by: `user:${userId}`, area, action, subjectId: id };
}

/** A decision that holds for more than one call, as a rule for exactly this target. */
export interface StandingDecision {
  id: string;
  orgId: string;
  userId: string;
  /** Session that the rule holds for; null: all of the person's sessions. */
  sessionId: string | null;
  /** Calls of the session's children that its rule covers; null: none. */
  childKey: string | null;
  /** True if the yes was given for a command in a sandbox. */
  sandboxedOnly: boolean;
  tool: string;
  target: string;
  effect: "allow" | "deny";
}

export function addStandingRule(work: Work, decision: StandingDecision): Promise<Rule> {
  return addRule(work, {
    id: decision.id,
    org_id: decision.orgId,
    level: "user",
    user_id: decision.userId,
    session_id: decision.sessionId,
    child_key: decision.childKey,
    sandboxed_only: decision.sandboxedOnly ? 1 : 0,
    tool: decision.tool,
    pattern: decision.target,
    match: "exact",
    effect: decision.effect,
    note: "Created from an approval.",
    created_by: decision.userId,
    created_at: work.now,
  });
}

export async function removeRule(work: Work, principal: UserPrincipal, id: string): Promise<Rule> {
  const row = await findRule(work.tx, id);
  const isVisible =
    row?.org_id === principal.orgId && (row.user_id === null || row.user_id === principal.userId);
  if (!row || !isVisible) throw notFound("rule");
  requireRight(principal, row.level);
  await deleteRule(work.tx, id);
  await work.reportChange(changeOf(row, principal.userId, "removed"));
  return ruleView(row);
}

/** Refuses API keys, because a rule outlasts the credential it was made with. */
function requireRight(principal: UserPrincipal, level: "user" | "org"): void {
  requireSignedIn(principal, "Creating or deleting a rule");
  if (level === "user" || may(principal, "policy.manage", { orgId: principal.orgId })) return;
  throw new Refusal(
    "forbidden",
    "forbidden",
    "Only admins can create rules of the organisation. Use level user for a rule of your own.",
  );
}

/** Locks the session. A missing session and another person's get the same refusal. */
export async function requireOwnSession(
  work: Work,
  principal: UserPrincipal,
  id: string,
): Promise<SessionRow> {
  const row = (await work.session(id))?.row;
  if (row?.org_id !== principal.orgId || row.owner_id !== principal.userId)
    throw notFound("session");
  return row;
}

const WHOLE_ADDRESS = /^https?:\/\/(?:\*\.)?[^*?/@]+\//i;
const HOST = /^(?:\*\.)?[^*?/@:]+$/;

/** Refuses `https://example.org*`, which would also match `https://example.org.elsewhere.net`. */
function refuseWideAddress(pattern: string): void {
  if (pattern === "*" || WHOLE_ADDRESS.test(pattern) || HOST.test(pattern)) return;
  throw invalid(
    "Name the host in full: example.org, *.example.org, or https://example.org/* for an address.",
  );
}

function invalid(message: string): Refusal {
  return new Refusal("invalid", "pattern_invalid", message);
}

/** Creator of the rules that a session has from its persona. */
const PERSONA = "persona";

/** Replaces the rules that the session has from its persona. */
export async function setPersonaRules(
  work: Work,
  session: SessionRow,
  rules: readonly Pick<NewRule, "tool" | "pattern" | "effect">[],
): Promise<void> {
  if (session.owner_id === null) return;
  await deleteSessionRules(work.tx, session.id, PERSONA);
  for (const { tool, pattern, effect } of rules) {
    await insertRule(work.tx, {
      id: work.ids.mint("rul"),
      org_id: session.org_id,
      level: "user",
      user_id: session.owner_id,
      session_id: session.id,
      child_key: null,
      sandboxed_only: 0,
      tool,
      pattern: cleanText(pattern),
      match: defaultMatch(tool, pattern),
      effect,
      note: null,
      created_by: PERSONA,
      created_at: work.now,
    });
  }
}
