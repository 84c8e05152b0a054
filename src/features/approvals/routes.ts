/** Approvals over HTTP: each person sees and decides those of their own sessions. */
import { notFound } from "#base/refusal.ts";
import { findGate, listGates } from "#engine/gates/index.ts";
import { command, type GateRow, may, type Route, requireMay, serve } from "#engine/index.ts";
import { decodeCursor, pageOf } from "#engine/requests/index.ts";
import { requireUser } from "#features/policy/index.ts";
import { approvalsApi } from "./contract.ts";
import { decide } from "./decide.ts";
import { approvalView } from "./view.ts";

const LIST = "approvals";

const placeOf = (gate: GateRow) => ({ at: gate.asked_at, id: gate.id });

export const approvalRoutes: readonly Route[] = [
  serve(approvalsApi.list, async ({ engine, principal, query }) => {
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
    return pageOf(LIST, rows, query.limit, placeOf, approvalView);
  }),
  serve(approvalsApi.get, async ({ engine, principal, params }) => {
    const user = requireUser(principal);
    const gate = await command(engine, async (work) => {
      const found = await findGate(work.tx, params.id);
      const row = found && (await work.session(found.session_id))?.row;
      return row && may(user, "approval.read", { orgId: row.org_id, ownerId: row.owner_id })
        ? found
        : undefined;
    });
    if (!gate) throw notFound("approval");
    return { approval: approvalView(gate) };
  }),
  serve(approvalsApi.decide, async ({ engine, principal, params, body }) => {
    const gate = await decide(engine, requireUser(principal), params.id, body);
    return { approval: approvalView(gate) };
  }),
];
