import * as z from "zod";
import { decodeCursor, pageOf as pageOfRows } from "#engine/cursor.ts";
import { defineRoute, may, type Principal, type Route, requireMay } from "#engine/index.ts";
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, pageOf } from "#protocol/page.ts";
import {
  AUDIT_ACTIONS,
  AUDIT_CATEGORIES,
  type AuditEvent,
  auditEventSchema,
  verificationSchema,
} from "./contract.ts";
import type { HeadKeeper } from "./kept-head.ts";
import { actionsNamed, ORCHESTRATOR_EVENTS } from "./orchestrator-events.ts";
import { listAuditRows } from "./queries.ts";
import type { AuditRow } from "./schema.ts";
import { verifyTrail } from "./verify.ts";

const TAG = "Audit";
const LIST = "audit";

const instant = z.iso
  .datetime({ offset: true })
  .or(z.iso.date())
  .transform((text) => Date.parse(text))
  .optional();

const listQuery = z.strictObject({
  session: z.string().max(200).optional(),
  action: z
    .enum([...AUDIT_ACTIONS, ...ORCHESTRATOR_EVENTS])
    .transform(actionsNamed)
    .optional()
    .describe("An action, or an event of an agent's loop such as tool_call."),
  category: z.enum(AUDIT_CATEGORIES).optional(),
  from: instant,
  to: instant,
  limit: z.coerce.number().int().min(1).max(PAGE_LIMIT_MAX).default(PAGE_LIMIT_DEFAULT),
  cursor: z.string().max(1_000).optional(),
});

export const auditRoutes = (keeper: HeadKeeper): readonly Route[] => [
  defineRoute({
    method: "get",
    path: "/api/audit",
    summary: "What happened, newest first: all of it for admins, else that of your sessions",
    tag: TAG,
    query: listQuery,
    response: pageOf(auditEventSchema),
    async handle({ engine, principal, query }) {
      const { session, action: actions, cursor, limit, ...rest } = query;
      const rows = await engine.store.read((reader) =>
        listAuditRows(reader, {
          ...rest,
          actions,
          orgId: principal.orgId,
          userId: readerOf(principal),
          sessionId: session,
          before: decodeCursor(LIST, cursor),
          limit: limit + 1,
        }),
      );
      return pageOfRows(LIST, rows, limit, ({ at, id }) => ({ at, id }), auditView);
    },
  }),
  defineRoute({
    method: "get",
    path: "/api/audit/verify",
    summary: "Whether the trail is as it was written",
    tag: TAG,
    response: verificationSchema,
    async handle({ engine, principal }) {
      requireMay(principal, "audit.read");
      return verifyTrail(engine, keeper);
    },
  }),
];

/** Whose rows may be seen; undefined: everybody's. */
function readerOf(principal: Principal): string | undefined {
  if (may(principal, "audit.read", { orgId: principal.orgId })) return undefined;
  requireMay(principal, "session.read");
  if (principal.kind === "user") return principal.userId;
  requireMay(principal, "audit.read");
  return "";
}

function auditView(row: AuditRow): AuditEvent {
  return {
    id: row.id,
    at: new Date(row.at).toISOString(),
    category: row.category,
    action: row.action,
    severity: row.severity,
    metadata: {
      requestId: row.run_id,
      sessionId: row.session_id,
      userId: row.user_id,
      ...(JSON.parse(row.metadata) as Record<string, unknown>),
    },
    seq: row.seq,
    hash: row.hash,
  };
}
