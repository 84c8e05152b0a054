/** The audit trail on the wire. */
import * as z from "zod";
import { apiRoute } from "#protocol/api-route.ts";
import { isoTime, pageOf, pageQuery } from "#protocol/page.ts";

export const AUDIT_CATEGORIES = [
  "session",
  "channel",
  "provider",
  "tool",
  "approval",
  /** Membership of the organisation. */
  "people",
  /** Access: sign-in, keys, runners, and what was opened to an admin. */
  "access",
  "settings",
  /** Supervisors, orchestrators and their children. */
  "orchestration",
] as const;
/** `error` occurs only in trails of earlier versions, for a failed turn. */
export const AUDIT_SEVERITIES = ["info", "warning", "error"] as const;
export const AUDIT_ACTIONS = [
  "session_created",
  "session_lifecycle",
  "message_received",
  "message_complete",
  "message_error",
  "model_called",
  "tool_executed",
  "tool_denied",
  "approval_asked",
  "approval_decided",
  "person_changed",
  "access_changed",
  "setting_changed",
  "signed_in",
  "sign_in_failed",
  "sign_in_locked",
  "session_opened",
  "entry_redacted",
  "orchestrated",
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Aliases to filter by: other systems' names for the events of an agent's loop. */
export const ACTION_ALIASES = [
  "message_start",
  "tool_call",
  "tool_result",
  "message_complete",
  "error",
] as const;
export type ActionAlias = (typeof ACTION_ALIASES)[number];

const auditEventSchema = z
  .object({
    id: z.string(),
    at: isoTime,
    category: z.enum(AUDIT_CATEGORIES),
    action: z.enum(AUDIT_ACTIONS),
    severity: z.enum(AUDIT_SEVERITIES),
    /** Ids, names, sizes, durations, decisions and codes; never content. */
    metadata: z.record(z.string(), z.unknown()),
    /** Position in the chain; null until the row is sealed. */
    seq: z.number().int().nullable(),
    hash: z.string().nullable(),
  })
  .meta({ id: "AuditEvent" });
export type AuditEvent = z.infer<typeof auditEventSchema>;

const verificationSchema = z
  .object({
    ok: z.boolean(),
    sealed: z.number().int(),
    /** Rows that are not in the chain yet: those of the last second. */
    unsealed: z.number().int(),
    /** First position in the chain that does not fit; null when all do. */
    firstBroken: z.object({ seq: z.number().int(), why: z.string() }).nullable(),
    /** Record it elsewhere: a rewritten chain has another head. */
    head: z.object({ seq: z.number().int(), hash: z.string() }),
    /** End of the trail that this server keeps outside the database; null: none yet. */
    outside: z.object({ seq: z.number().int(), at: isoTime }).nullable(),
    /** Retention removed the oldest rows: up to this position, whose event happened at `through`. */
    cut: z.object({ seq: z.number().int(), through: isoTime, at: isoTime }).nullable(),
    /** Times when the database was restored from a copy, and the end of the trail in it. */
    restores: z.array(z.object({ at: isoTime, seq: z.number().int() })),
  })
  .meta({ id: "AuditVerification" });
export type Verification = z.infer<typeof verificationSchema>;

const instant = z.iso
  .datetime({ offset: true })
  .or(z.iso.date())
  .transform((text) => Date.parse(text))
  .optional();

const auditListQuery = z.strictObject({
  session: z.string().max(200).optional(),
  action: z
    .enum([...AUDIT_ACTIONS, ...ACTION_ALIASES])
    .optional()
    .describe("An action, or an event of an agent's turn such as tool_call."),
  category: z.enum(AUDIT_CATEGORIES).optional(),
  from: instant,
  to: instant,
  ...pageQuery,
});

const TAG = "Audit";

export const auditApi = {
  list: apiRoute({
    method: "get",
    path: "/api/audit",
    summary: "Events, newest first: all for admins, otherwise those of your own sessions",
    tag: TAG,
    query: auditListQuery,
    response: pageOf(auditEventSchema),
  }),
  verify: apiRoute({
    method: "get",
    path: "/api/audit/verify",
    summary: "Verify that the audit trail has not been changed since it was written",
    tag: TAG,
    response: verificationSchema,
  }),
};
