/** Everybody's sessions, for admins: that they are there; and what is in one, for a reason, for a while. */
import * as z from "zod";
import { defineRoute, type Route, requireMay } from "#engine/index.ts";
import { listOverseen, openSession } from "#engine/sessions/index.ts";
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, pageOf } from "#protocol/page.ts";
import { LIFECYCLES, overseenSessionSchema, SESSION_KINDS } from "#protocol/sessions.ts";
import { personOf } from "./person-of.ts";

const TAG = "Organisation";
const SESSIONS = "/api/orgs/{orgId}/sessions";

export const overseeRoutes: readonly Route[] = [
  defineRoute({
    method: "get",
    path: SESSIONS,
    summary:
      "Everybody's sessions, newest first: what they are and cost, not what is in them (admins)",
    tag: TAG,
    query: z.strictObject({
      user: z.string().max(200).optional(),
      kind: z.enum(SESSION_KINDS).optional(),
      lifecycle: z.enum(LIFECYCLES).optional(),
      limit: z.coerce.number().int().min(1).max(PAGE_LIMIT_MAX).default(PAGE_LIMIT_DEFAULT),
      cursor: z.string().max(1_000).optional(),
    }),
    response: pageOf(overseenSessionSchema),
    handle({ engine, principal, params, query: { user, lifecycle, ...rest } }) {
      const admin = personOf(principal, params);
      return listOverseen(engine, admin, {
        ...rest,
        userId: user,
        lifecycle: lifecycle === undefined ? undefined : [lifecycle],
      });
    },
  }),
  defineRoute({
    method: "post",
    path: `${SESSIONS}/{sessionId}/open`,
    summary: "Read somebody's session for an hour, for a reason that its owner is told (admins)",
    tag: TAG,
    body: z.strictObject({ reason: z.string().trim().min(3).max(500) }),
    response: z.object({ session: overseenSessionSchema }),
    async handle({ engine, principal, params, body }) {
      const admin = personOf(principal, params);
      requireMay(admin, "session.oversee");
      return { session: await openSession(engine, admin, params.sessionId ?? "", body.reason) };
    },
  }),
];
