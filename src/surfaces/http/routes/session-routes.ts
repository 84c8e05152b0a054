import type { Kernel } from "#engine/index.ts";
import { sessionsApi } from "#engine/sessions/contract.ts";
import { type App, idempotencyOf, principalOf, sessionIdOf } from "../app.ts";
import { endpoint } from "../endpoint.ts";
import { requireId } from "../input.ts";

export function sessionRoutes(app: App, { sessions }: Kernel): void {
  endpoint(app, sessionsApi.create, async ({ c, body }) => ({
    session: await sessions.create(principalOf(c), body, idempotencyOf(c)),
  }));
  endpoint(app, sessionsApi.list, ({ c, query }) => sessions.list(principalOf(c), query));
  endpoint(app, sessionsApi.get, async ({ c }) => ({
    session: await sessions.get(principalOf(c), sessionIdOf(c)),
  }));
  endpoint(app, sessionsApi.update, async ({ c, body }) => ({
    session: await sessions.update(principalOf(c), sessionIdOf(c), body),
  }));
  endpoint(app, sessionsApi.delete, async ({ c, query: { force, children } }) => ({
    session: await sessions.archive(principalOf(c), sessionIdOf(c), force === "true", children),
  }));
  lifecycleRoutes(app, sessions);
  transcriptRoutes(app, sessions);
}

function transcriptRoutes(app: App, sessions: Kernel["sessions"]): void {
  endpoint(app, sessionsApi.transcript, ({ c, query }) =>
    sessions.transcript(principalOf(c), sessionIdOf(c), query),
  );
  endpoint(app, sessionsApi.redactEntry, async ({ c }) => ({
    redacted: await sessions.redact(
      principalOf(c),
      sessionIdOf(c),
      requireId(c.req.param("entryId"), "entry"),
    ),
  }));
}

function lifecycleRoutes(app: App, sessions: Kernel["sessions"]): void {
  endpoint(app, sessionsApi.stop, ({ c, body }) =>
    sessions.stop(principalOf(c), sessionIdOf(c), body.promptId),
  );
  const actions = ["hibernate", "wake", "relocate", "terminate"] as const;
  for (const action of actions)
    endpoint(app, sessionsApi[action], async ({ c }) => ({
      session: await sessions[action](principalOf(c), sessionIdOf(c)),
    }));
  endpoint(app, sessionsApi.archive, async ({ c, body: { force, children } }) => ({
    session: await sessions.archive(principalOf(c), sessionIdOf(c), force, children),
  }));
  endpoint(app, sessionsApi.clear, async ({ c, body }) => ({
    session: await sessions.clear(principalOf(c), sessionIdOf(c), body.thread),
  }));
}
