/** The org: its name, its members, and how people come and go. */
import type { Clock } from "#base/clock.ts";
import type { Ids } from "#base/ids.ts";
import type { Store } from "#base/store/index.ts";
import type { Feature } from "#engine/index.ts";
import { type Auth, listRemoved } from "#features/auth/index.ts";
import { acceptInvitation, type Joining } from "./invitations.ts";
import { deleteOldInvitations } from "./queries.ts";
import { orgRoutes } from "./routes.ts";
import { orgMigrations } from "./schema.ts";
import { stopWorkOf, type Work } from "./stop-work.ts";

const STOP_EVERY_MS = 30_000;
const SWEEP_EVERY_MS = 60 * 60_000;
const OLD_KEPT_MS = 30 * 24 * 60 * 60_000;

export interface OrgOptions {
  store: Store;
  ids: Ids;
  clock: Clock;
  auth: Pick<Auth, "forget">;
  /** The kernel's commands; asked for when they are needed, because the kernel is made with features. */
  work: () => Work;
  /** Where people reach this server. */
  baseUrl: () => string;
}

export interface Orgs {
  feature: Feature;
  /** For somebody who has no credential yet. */
  acceptInvitation(token: string, joining: Joining): ReturnType<typeof acceptInvitation>;
}

export function createOrgs({ store, ids, clock, auth, work, baseUrl }: OrgOptions): Orgs {
  return {
    feature: {
      name: "orgs",
      migrations: orgMigrations,
      routes: orgRoutes({ auth, work, baseUrl }),
      sweeps: [
        {
          name: "work of those who left",
          everyMs: STOP_EVERY_MS,
          async run() {
            for (const user of await store.read(listRemoved)) await stopWorkOf(work(), user);
          },
        },
        {
          name: "old invitations",
          everyMs: SWEEP_EVERY_MS,
          async run(_engine, now) {
            await store.transaction((tx) => deleteOldInvitations(tx, now - OLD_KEPT_MS));
          },
        },
      ],
    },
    acceptInvitation: (token, joining) => acceptInvitation(store, ids, token, joining, clock.now()),
  };
}

export { orgMigrations } from "./schema.ts";
