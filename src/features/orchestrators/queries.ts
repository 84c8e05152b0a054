/** SQL on identities, preferences and settings of orchestrators. */
import { builder, inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { KernelTables, Person, SessionRow } from "#engine/index.ts";
import type { PersonRow } from "#features/auth/index.ts";
import { handleKey } from "./identity/handles.ts";
import type {
  AvatarRow,
  IdentityRow,
  OrchestratorTables,
  PreferencesRow,
  SettingsRow,
} from "./schema.ts";

type Tables = OrchestratorTables & Omit<KernelTables, "users"> & { users: PersonRow };
const prepare = statements<Tables>();

// Identities

const insertRow = inserter<IdentityRow>("orchestrator_identities", [
  "org_id",
  "user_id",
  "name",
  "handle",
  "handle_key",
  "avatar",
  "style",
  "custom_instructions",
  "accepts_agent_mail",
  "restarts",
  "stopped_at",
  "created_at",
  "updated_at",
]);
export function insertIdentity(tx: Tx, row: IdentityRow): Promise<number> {
  return tx.execute(insertRow(tx.dialect, [row]));
}

const selectIdentity = prepare<Person, IdentityRow>((db, p) =>
  db
    .selectFrom("orchestrator_identities")
    .selectAll()
    .where("org_id", "=", p("orgId"))
    .where("user_id", "=", p("userId")),
);
const selectIdentityLocked = prepare<Person, IdentityRow>((db, p, dialect) => {
  const query = db
    .selectFrom("orchestrator_identities")
    .selectAll()
    .where("org_id", "=", p("orgId"))
    .where("user_id", "=", p("userId"));
  return dialect === "postgres" ? query.forUpdate() : query;
});
export function findIdentity(reader: Reader, person: Person): Promise<IdentityRow | undefined> {
  return reader.first(selectIdentity, person);
}
export function lockIdentity(tx: Tx, person: Person): Promise<IdentityRow | undefined> {
  return tx.first(selectIdentityLocked, person);
}

const updateIdentity = prepare<IdentityRow, unknown>((db, p) =>
  db
    .updateTable("orchestrator_identities")
    .set({
      name: p("name"),
      handle: p("handle"),
      handle_key: p("handle_key"),
      avatar: p("avatar"),
      style: p("style"),
      custom_instructions: p("custom_instructions"),
      accepts_agent_mail: p("accepts_agent_mail"),
      restarts: p("restarts"),
      stopped_at: p("stopped_at"),
      updated_at: p("updated_at"),
    })
    .where("org_id", "=", p("org_id"))
    .where("user_id", "=", p("user_id")),
);
export function saveIdentity(tx: Tx, row: IdentityRow): Promise<number> {
  return tx.run(updateIdentity, row);
}

const upsertAvatar = prepare<AvatarRow, unknown>((db, p) =>
  db
    .insertInto("orchestrator_avatars")
    .values({
      org_id: p("org_id"),
      user_id: p("user_id"),
      media_type: p("media_type"),
      data: p("data"),
      updated_at: p("updated_at"),
    })
    .onConflict((conflict) =>
      conflict.columns(["org_id", "user_id"]).doUpdateSet((eb) => ({
        media_type: eb.ref("excluded.media_type"),
        data: eb.ref("excluded.data"),
        updated_at: eb.ref("excluded.updated_at"),
      })),
    ),
);
export function saveAvatar(tx: Tx, row: AvatarRow): Promise<number> {
  return tx.run(upsertAvatar, row);
}

const selectAvatar = prepare<Person, AvatarRow>((db, p) =>
  db
    .selectFrom("orchestrator_avatars")
    .selectAll()
    .where("org_id", "=", p("orgId"))
    .where("user_id", "=", p("userId")),
);
export function findAvatar(reader: Reader, person: Person): Promise<AvatarRow | undefined> {
  return reader.first(selectAvatar, person);
}

const deleteAvatarRow = prepare<Person, unknown>((db, p) =>
  db
    .deleteFrom("orchestrator_avatars")
    .where("org_id", "=", p("orgId"))
    .where("user_id", "=", p("userId")),
);
export function deleteAvatar(tx: Tx, { orgId, userId }: Person): Promise<number> {
  return tx.run(deleteAvatarRow, { orgId, userId });
}

const selectByHandle = prepare<{ orgId: string; key: string }, IdentityRow>((db, p) =>
  db
    .selectFrom("orchestrator_identities as identity")
    .innerJoin("users", "users.id", "identity.user_id")
    .selectAll("identity")
    .where("identity.org_id", "=", p("orgId"))
    .where("identity.handle_key", "=", p("key"))
    .where("users.removed_at", "is", null),
);
/** Finds the identity of a present member. */
export function findByHandle(
  reader: Reader,
  orgId: string,
  handle: string,
): Promise<IdentityRow | undefined> {
  return reader.first(selectByHandle, { orgId, key: handleKey(handle) });
}

const selectHandles = prepare<
  { orgId: string; userId: string; from: string; to: string },
  { handle_key: string }
>((db, p) =>
  db
    .selectFrom("orchestrator_identities")
    .select("handle_key")
    .where("org_id", "=", p("orgId"))
    .where("user_id", "!=", p("userId"))
    .where("handle_key", ">=", p("from"))
    .where("handle_key", "<", p("to")),
);
/** Lists handle keys of other people with this prefix. */
export async function listTakenHandles(
  reader: Reader,
  { orgId, userId }: Person,
  stem: string,
): Promise<Set<string>> {
  const bounds = { from: stem, to: `${stem}\u{7f}` };
  const rows = await reader.all(selectHandles, { orgId, userId, ...bounds });
  return new Set(rows.map(({ handle_key }) => handle_key));
}

const selectOfOrg = prepare<{ orgId: string }, IdentityRow>((db, p) =>
  db
    .selectFrom("orchestrator_identities as identity")
    .innerJoin("users", "users.id", "identity.user_id")
    .selectAll("identity")
    .where("identity.org_id", "=", p("orgId"))
    .where("users.removed_at", "is", null)
    .orderBy("identity.handle_key"),
);
/** Lists the identities of present members. */
export function listIdentities(reader: Reader, orgId: string): Promise<IdentityRow[]> {
  return reader.all(selectOfOrg, { orgId });
}

const deleteIdentity = prepare<Person, unknown>((db, p) =>
  db
    .deleteFrom("orchestrator_identities")
    .where("org_id", "=", p("orgId"))
    .where("user_id", "=", p("userId")),
);
const deletePreferences = prepare<Person, unknown>((db, p) =>
  db
    .deleteFrom("orchestrator_preferences")
    .where("org_id", "=", p("orgId"))
    .where("user_id", "=", p("userId")),
);
export async function deleteAllOf(tx: Tx, person: Person): Promise<void> {
  await deleteAvatar(tx, person);
  await tx.run(deleteIdentity, person);
  await tx.run(deletePreferences, person);
}

// Sessions of several orchestrators

export async function listSessionsById(
  reader: Reader,
  ids: readonly string[],
): Promise<Map<string, SessionRow>> {
  if (ids.length === 0) return new Map();
  const query = builder<Tables>(reader.dialect)
    .selectFrom("sessions")
    .selectAll()
    .where("id", "in", ids);
  const rows = await reader.query<SessionRow>(query.compile());
  return new Map(rows.map((row) => [row.id, row]));
}

export interface DeadOrchestrator {
  org_id: string;
  user_id: string;
  name: string;
}
const selectDead = prepare<{ before: number; limit: number }, DeadOrchestrator>((db, p) =>
  db
    .selectFrom("sessions")
    .innerJoin("orchestrator_identities as identity", (join) =>
      join
        .onRef("identity.user_id", "=", "sessions.owner_id")
        .onRef("identity.org_id", "=", "sessions.org_id"),
    )
    .innerJoin("users", "users.id", "identity.user_id")
    .select(["identity.org_id", "identity.user_id", "users.name"])
    .where("sessions.archived_at", "is not", null)
    .where("sessions.archived_at", "<", p("before"))
    .where("sessions.kind", "=", "orchestrator")
    .where("sessions.lifecycle", "=", "terminated")
    .where("users.removed_at", "is", null)
    // Left out if recovery stopped, unless the orchestrator came back since and ended again.
    .where((eb) =>
      eb.or([
        eb("identity.stopped_at", "is", null),
        eb("identity.stopped_at", "<", eb.ref("sessions.archived_at")),
      ]),
    )
    .orderBy("sessions.archived_at", "desc")
    .limit(p("limit")),
);
/** Lists orchestrators that ended before an instant and may be restored without a person. */
export function listDead(
  reader: Reader,
  before: number,
  limit: number,
): Promise<DeadOrchestrator[]> {
  return reader.all(selectDead, { before, limit });
}

// Preferences and settings

const selectPreferences = prepare<Person, PreferencesRow>((db, p) =>
  db
    .selectFrom("orchestrator_preferences")
    .selectAll()
    .where("org_id", "=", p("orgId"))
    .where("user_id", "=", p("userId")),
);
export async function findPreferences(reader: Reader, person: Person): Promise<PreferencesRow> {
  const { orgId, userId } = person;
  const none = { org_id: orgId, user_id: userId, idle_ms: null, queue_mode: null, model: null };
  return (await reader.first(selectPreferences, person)) ?? none;
}

const upsertPreferences = prepare<PreferencesRow, unknown>((db, p) =>
  db
    .insertInto("orchestrator_preferences")
    .values({
      org_id: p("org_id"),
      user_id: p("user_id"),
      idle_ms: p("idle_ms"),
      queue_mode: p("queue_mode"),
      model: p("model"),
    })
    .onConflict((conflict) =>
      conflict.columns(["org_id", "user_id"]).doUpdateSet({
        idle_ms: p("idle_ms"),
        queue_mode: p("queue_mode"),
        model: p("model"),
      }),
    ),
);
export function savePreferences(tx: Tx, row: PreferencesRow): Promise<number> {
  return tx.run(upsertPreferences, row);
}

const selectSettings = prepare<{ orgId: string }, SettingsRow>((db, p) =>
  db.selectFrom("orchestrator_settings").selectAll().where("org_id", "=", p("orgId")),
);
/** Model that admins set for all orchestrators; null lets everybody choose. */
export async function findFixedModel(reader: Reader, orgId: string): Promise<string | null> {
  return (await reader.first(selectSettings, { orgId }))?.model ?? null;
}

const upsertSettings = prepare<SettingsRow, unknown>((db, p) =>
  db
    .insertInto("orchestrator_settings")
    .values({ org_id: p("org_id"), model: p("model") })
    .onConflict((conflict) => conflict.column("org_id").doUpdateSet({ model: p("model") })),
);
export function saveFixedModel(tx: Tx, orgId: string, model: string | null): Promise<number> {
  return tx.run(upsertSettings, { org_id: orgId, model });
}
