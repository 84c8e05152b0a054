/** Routes of parents and children, for pages and API clients. */
import { notFound, Refusal } from "#base/refusal.ts";
import { command, may, principalKey, type Route, serve, sessionResource } from "#engine/index.ts";
import { findSession, readContext, requireReadable } from "#engine/sessions/index.ts";
import { detachByPerson } from "./children/end-child.ts";
import { readChildren } from "./children/read-children.ts";
import { delegationApi } from "./contract.ts";
import { recordOrchestration } from "./notify/note.ts";
import { findLink } from "./queries.ts";

export const delegationRoutes: readonly Route[] = [
  serve(delegationApi.children, async ({ engine, principal, params }) => {
    return engine.store.read(async (reader) => {
      const found = await findSession(reader, params.id);
      const context = readContext(engine, reader);
      const { session } = await requireReadable(reader, principal, found, context.now);
      return readChildren(context, session);
    });
  }),
  serve(delegationApi.detach, async ({ engine, principal, params: { id } }) => {
    return command(engine, async (work) => {
      const child = await work.sessionWithParent(id);
      if (!child || !may(principal, "session.manage", sessionResource(child.row)))
        throw notFound("session");
      const link = await findLink(work.tx, id);
      const parent = link && (await work.session(link.parent_session_id));
      if (!link || !parent) {
        throw new Refusal(
          "conflict",
          "worker_not_linked",
          "This session has no parent, so it cannot be detached.",
        );
      }
      const by = principalKey(principal);
      await recordOrchestration(work, parent.row, { action: "worker_detached", by, childId: id });
      await detachByPerson(work, child, link);
      return { sessionId: id, detached: true };
    });
  }),
];
