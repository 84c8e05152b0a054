/** Routing: which session hears what is said in which place, and who hears what has no place. */
import type { Feature } from "#engine/index.ts";
import { bindNewSession } from "./bind-session.ts";
import { routingRoutes } from "./routes.ts";
import { routingMigrations } from "./schema.ts";

export const routing: Feature = {
  name: "routing",
  migrations: routingMigrations,
  listeners: [bindNewSession],
  routes: routingRoutes,
  sessionTables: ["channel_bindings"],
};
