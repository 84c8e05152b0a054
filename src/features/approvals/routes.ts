import * as z from "zod";
import { notFound } from "#base/refusal.ts";
import { decodeCursor, pageOf as pageOfRows } from "#engine/cursor.ts";
import { findGate, listGates } from "#engine/gates/index.ts";
import { command, defineRoute, type GateRow, may, type Route, requireMay } from "#engine/index.ts";
import { requireUser } from "#features/policy/index.ts";
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, pageOf } from "#protocol/page.ts";
import { approvalSchema, decisionSchema } from "./contract.ts";
import { decide } from "./decide.ts";
import { approvalView } from "./view.ts";

const TAG = "Approvals";
const LIST = "approvals";
const one = z.object({ approval: approvalSchema });

const listQuery = z.strictObject({
  state: z.enum(["pending", "decided", "expired", "cancelled"]).optional(),
  session: z.string().max(200).optional(),
  limit: z.coerce.number().int().min(1).max(PAGE_LIMIT_MAX).default(PAGE_LIMIT_DEFAULT),
  cursor: z.string().max(1_000).optional(),
});

const placeOf = (gate: GateRow) => ({ at: gate.asked_at, id: gate.id });

export const approvalRoutes: readonly Route[] = [
  defineRoute({
    method: "get",
    path: "/api/approvals",
    summary: "What your agents ask of you, newest first",
    tag: TAG,
    query: listQuery,
    response: pageOf(approvalSchema),
    async handle({ engine, principal, query }) {
      requireMay(principal, "approval.read");
      const { orgId, userId } = requireUser(principal);
      const before = decodeCursor(LIST, query.cursor);
      const rows = await engine.store.read((reader) =>
        listGates(reader, {
          orgId,
          ownerId: userId,
          ...(query.state === undefined ? {} : { state: query.state }),
          ...(query.session === undefined ? {} : { sessionId: query.session }),
          ...(before ? { before } : {}),
          limit: query.limit + 1,
        }),
      );
      return pageOfRows(LIST, rows, query.limit, placeOf, approvalView);
    },
  }),
  defineRoute({
    method: "get",
    path: "/api/approvals/{id}",
    summary: "One of them",
    tag: TAG,
    response: one,
    async handle({ engine, principal, params }) {
      const user = requireUser(principal);
      const gate = await command(engine, async (work) => {
        const found = await findGate(work.tx, params.id ?? "");
        const row = found && (await work.session(found.session_id))?.row;
        return row && may(user, "approval.read", { orgId: row.org_id, ownerId: row.owner_id })
          ? found
          : undefined;
      });
      if (!gate) throw notFound("approval");
      return { approval: approvalView(gate) };
    },
  }),
  defineRoute({
    method: "post",
    path: "/api/approvals/{id}",
    summary: "Decide, or answer a question; the first answer stands",
    tag: TAG,
    body: decisionSchema,
    response: one,
    async handle({ engine, principal, params, body }) {
      const gate = await decide(engine, requireUser(principal), params.id ?? "", body);
      return { approval: approvalView(gate) };
    },
  }),
];
