/** The audit trail over HTTP: its events, and the check of its chain. */

import { may, type Principal, type Route, requireMay, serve } from "#engine/index.ts";
import { decodeCursor, pageOf } from "#engine/requests/index.ts";
import type { HeadKeeper } from "./chain/kept-head.ts";
import { verifyTrail } from "./chain/verify.ts";
import { type AuditEvent, auditApi } from "./contract.ts";
import { actionsNamed } from "./orchestrator-events.ts";
import { listAuditRows } from "./queries.ts";
import type { AuditRow } from "./schema.ts";

const LIST = "audit";

export const auditRoutes = (keeper: HeadKeeper): readonly Route[] => [
  serve(auditApi.list, async ({ engine, principal, query }) => {
    const { session, action, cursor, limit, ...rest } = query;
    const rows = await engine.store.read((reader) =>
      listAuditRows(reader, {
        ...rest,
        actions: action && actionsNamed(action),
        orgId: principal.orgId,
        userId: readerOf(principal),
        sessionId: session,
        before: decodeCursor(LIST, cursor),
        limit: limit + 1,
      }),
    );
    return pageOf(LIST, rows, limit, ({ at, id }) => ({ at, id }), auditView);
  }),
  serve(auditApi.verify, async ({ engine, principal }) => {
    requireMay(principal, "audit.read");
    return verifyTrail(engine, keeper);
  }),
];

/** Id of the person whose rows the caller may see; undefined: everybody's. */
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
