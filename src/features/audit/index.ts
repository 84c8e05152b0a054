/** Audit: an append-only, hash-chained trail of what happened, without any content. */
import type { Feature } from "#engine/index.ts";
import { listen } from "./listen.ts";
import { auditRoutes } from "./routes.ts";
import { auditMigrations } from "./schema.ts";
import { SEAL_EVERY_MS, sealTrail } from "./seal.ts";

export const audit: Feature = {
  name: "audit",
  migrations: auditMigrations,
  listeners: [listen],
  routes: auditRoutes,
  sweeps: [
    {
      name: "audit",
      everyMs: SEAL_EVERY_MS,
      run: async (engine) => {
        await sealTrail(engine);
      },
    },
  ],
};
