/** Routing: finds the session for a prompt from a conversation, or the sender's orchestrator. */
import type { Feature } from "#engine/index.ts";
import { bindNewSession } from "./bind-session.ts";
import { listBindings } from "./queries.ts";
import { routingRoutes } from "./routes.ts";
import { routingMigrations } from "./schema.ts";

export const routing: Feature = {
  name: "routing",
  migrations: routingMigrations,
  listeners: [bindNewSession],
  routes: routingRoutes,
  sessionTables: ["channel_bindings"],
  async listBindings(reader, sessionIds) {
    const rows = await listBindings(reader, sessionIds);
    const shown = rows.map(({ session_id, channel_type, channel_id }) => ({
      sessionId: session_id,
      binding: { channelType: channel_type, channelId: channel_id },
    }));
    const groups = Map.groupBy(shown, ({ sessionId }) => sessionId);
    return new Map([...groups].map(([id, some]) => [id, some.map(({ binding }) => binding)]));
  },
};
