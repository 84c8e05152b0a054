/** Parents and children over HTTP: for pages and people's own programs. */
import * as z from "zod";
import { notFound, Refusal } from "#base/refusal.ts";
import {
  command,
  defineRoute,
  may,
  principalKey,
  type Route,
  sessionThing,
} from "#engine/index.ts";
import { findSession, requireReadable } from "#engine/sessions/index.ts";
import { familySchema } from "./contract.ts";
import { detachByPerson } from "./end-child.ts";
import { readFamily } from "./family.ts";
import { note } from "./note.ts";
import { findLink } from "./queries.ts";

const TAG = "Sessions";

export const delegationRoutes: readonly Route[] = [
  defineRoute({
    method: "get",
    path: "/api/sessions/{id}/children",
    summary: "Its children: those that live first, then the newest, and what all of them cost",
    tag: TAG,
    response: familySchema,
    async handle({ engine, principal, params }) {
      return engine.store.read(async (reader) => {
        const found = await findSession(reader, params.id ?? "");
        const now = engine.clock.now();
        const { session } = await requireReadable(reader, principal, found, now);
        return readFamily(reader, session, now);
      });
    },
  }),
  defineRoute({
    method: "post",
    path: "/api/sessions/{id}/detach",
    summary: "Take it out of its parent's hands, whatever the parent is; the parent is told",
    tag: TAG,
    response: z.object({ sessionId: z.string(), detached: z.literal(true) }),
    async handle({ engine, principal, params }) {
      const { id = "" } = params;
      return command(engine, async (work) => {
        const child = await work.family(id);
        if (!child || !may(principal, "session.manage", sessionThing(child.row)))
          throw notFound("session");
        const link = await findLink(work.tx, id);
        const parent = link && (await work.session(link.parent_session_id));
        if (!link || !parent) {
          throw new Refusal(
            "conflict",
            "worker_not_linked",
            "This session has no parent. There is nothing to take it away from.",
          );
        }
        const by = principalKey(principal);
        await note(work, parent.row, { action: "worker_detached", by, childId: id });
        await detachByPerson(work, child, link);
        return { sessionId: id, detached: true as const };
      });
    },
  }),
];
