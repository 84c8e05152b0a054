/** The organisation: its name, its members, joining and leaving. */
import type { Clock } from "#base/clock.ts";
import type { Ids } from "#base/ids.ts";
import type { Store } from "#base/store/index.ts";
import {
  type Feature,
  forEachIndependently,
  type Kernel,
  type ReportChange,
} from "#engine/index.ts";
import { listActiveOwners } from "#engine/sessions/index.ts";
import { type AdmitMember, type Auth, listRemoved, type Visit } from "#features/auth/index.ts";
import { acceptInvitation, admitIdentified, type Joining } from "./invitations.ts";
import { judgeMember } from "./judge-member.ts";
import { continuePurges } from "./purge-member.ts";
import { deleteOldInvitations } from "./queries.ts";
import { orgRoutes } from "./routes.ts";
import { orgMigrations } from "./schema.ts";
import { stopWorkOf, type Work } from "./stop-work.ts";

const STOP_EVERY_MS = 30_000;
const PURGE_EVERY_MS = 1_000;
const SWEEP_EVERY_MS = 60 * 60_000;
const OLD_KEPT_MS = 30 * 24 * 60 * 60_000;

export interface OrgOptions {
  store: Store;
  ids: Ids;
  clock: Clock;
  tell: ReportChange;
  auth: Pick<Auth, "forget">;
  /** The kernel's commands, resolved late because the kernel is created with features. */
  work: () => Work & Pick<Kernel, "purgePerson">;
  /** Address at which people reach this server. */
  baseUrl: () => string;
}

export interface Orgs {
  feature: Feature;
  /** Accepts an invitation for a person without a credential. */
  acceptInvitation(
    token: string,
    joining: Joining,
    visit: Visit,
  ): ReturnType<typeof acceptInvitation>;
  /** Accepts an invitation for a person whom a sign-in service has identified. */
  admitIdentified: AdmitMember;
}

export function createOrgs(options: OrgOptions): Orgs {
  const { store, ids, clock, tell, auth, work, baseUrl } = options;
  return {
    feature: {
      name: "orgs",
      migrations: orgMigrations,
      routes: orgRoutes({ auth, work, baseUrl }),
      judge: judgeMember,
      sweeps: [
        {
          name: "work of those who left",
          everyMs: STOP_EVERY_MS,
          async run() {
            const left = await store.read(async (reader) => {
              const awake = new Set(await listActiveOwners(reader));
              return (await listRemoved(reader)).filter(({ id }) => awake.has(id));
            });
            await forEachIndependently(left, (user) => stopWorkOf(work(), user));
          },
        },
        {
          name: "data of those who left",
          everyMs: PURGE_EVERY_MS,
          run: (engine) => continuePurges(engine, work()),
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
    acceptInvitation: (token, joining, visit) =>
      acceptInvitation({ store, ids, tell }, token, joining, visit, clock.now()),
    admitIdentified: admitIdentified({ tell }),
  };
}

export { orgMigrations } from "./schema.ts";
