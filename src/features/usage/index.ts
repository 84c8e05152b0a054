/** Usage of models and tools, by session, tree, person, model, persona and day. */
import type { Feature } from "#engine/index.ts";
import { listen } from "./listen.ts";
import { forgetPersonasOf } from "./queries.ts";
import { usageRetention } from "./retention.ts";
import { usageRoutes } from "./routes.ts";
import { usageMigrations } from "./schema.ts";

export const usage: Feature = {
  name: "usage",
  migrations: usageMigrations,
  listeners: [listen],
  routes: usageRoutes,
  retention: [usageRetention],
  async purgePerson(work, { orgId, userId }) {
    await forgetPersonasOf(work.tx, { orgId, userId });
    return true;
  },
};
