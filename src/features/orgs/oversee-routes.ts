/** Everybody's sessions, for admins: a list, and access to one, for a reason and a limited time. */
import { type Route, requireMay, serve } from "#engine/index.ts";
import { listOverseen, openSession } from "#engine/sessions/index.ts";
import { orgsApi } from "./contract.ts";
import { personOf } from "./person-of.ts";

export const overseeRoutes: readonly Route[] = [
  serve(orgsApi.listSessions, async ({ engine, principal, params, query }) => {
    const { user, lifecycle, ...rest } = query;
    const admin = personOf(principal, params);
    return listOverseen(engine, admin, {
      ...rest,
      userId: user,
      lifecycle: lifecycle === undefined ? undefined : [lifecycle],
    });
  }),
  serve(orgsApi.openSession, async ({ engine, principal, params, body }) => {
    const admin = personOf(principal, params);
    requireMay(admin, "session.oversee");
    return { session: await openSession(engine, admin, params.sessionId, body.reason) };
  }),
];
