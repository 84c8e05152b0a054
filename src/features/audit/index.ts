/** Audit: an append-only, hash-chained trail of events, without any content. */
import type { Engine, Feature } from "#engine/index.ts";
import { auditRetention } from "./chain/cut-trail.ts";
import { createHeadKeeper } from "./chain/kept-head.ts";
import { noteRestore, type RestoredTrail } from "./chain/note-restore.ts";
import { SEAL_EVERY_MS, sealTrail } from "./chain/seal.ts";
import { listen } from "./listen.ts";
import { auditRoutes } from "./routes.ts";
import { auditMigrations } from "./schema.ts";

export { type RestoredTrail, restoredTrailSchema } from "./chain/note-restore.ts";

export interface Audit {
  feature: Feature;
  /** Records that after `muster restore` the trail may end earlier than this server has seen it. */
  noteRestore(engine: Engine, restored: RestoredTrail): Promise<void>;
}

/** `headFile`: file that keeps the end of the trail outside the database. */
export function createAudit({
  secretKey = "",
  headFile,
}: {
  secretKey?: string;
  headFile?: string | undefined;
} = {}): Audit {
  const keeper = createHeadKeeper(secretKey, headFile);
  return {
    feature: {
      name: "audit",
      migrations: auditMigrations,
      listeners: [listen],
      routes: auditRoutes(keeper),
      retention: [auditRetention(keeper)],
      sweeps: [
        {
          name: "audit",
          everyMs: SEAL_EVERY_MS,
          run: async (engine) => {
            await sealTrail(engine, keeper);
          },
        },
      ],
    },
    noteRestore: (engine, restored) => noteRestore(engine, keeper, restored),
  };
}
