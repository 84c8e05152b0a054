/** SQL on notification preferences and contacts. */
import { builder, inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { Person } from "#engine/index.ts";
import type { ContactRow, MailboxTables, PreferenceRow } from "../schema.ts";

const prepare = statements<MailboxTables>();

const selectPreferences = prepare<Person, PreferenceRow>((db, p) =>
  db
    .selectFrom("notification_preferences")
    .selectAll()
    .where("org_id", "=", p("orgId"))
    .where("user_id", "=", p("userId"))
    .orderBy("message_type")
    .orderBy("event_type"),
);
export function findPreferences(
  reader: Reader,
  { orgId, userId }: Person,
): Promise<PreferenceRow[]> {
  return reader.all(selectPreferences, { orgId, userId });
}

const upsertPreference = prepare<PreferenceRow, unknown>((db, p) =>
  db
    .insertInto("notification_preferences")
    .values({
      org_id: p("org_id"),
      user_id: p("user_id"),
      message_type: p("message_type"),
      event_type: p("event_type"),
      slack: p("slack"),
      telegram: p("telegram"),
      email: p("email"),
      push: p("push"),
      digest: p("digest"),
    })
    .onConflict((conflict) =>
      conflict.columns(["org_id", "user_id", "message_type", "event_type"]).doUpdateSet({
        slack: p("slack"),
        telegram: p("telegram"),
        email: p("email"),
        push: p("push"),
        digest: p("digest"),
      }),
    ),
);
export function savePreference(tx: Tx, row: PreferenceRow): Promise<number> {
  return tx.run(upsertPreference, row);
}

const selectContacts = prepare<Person, ContactRow>((db, p) =>
  db
    .selectFrom("mail_contacts")
    .selectAll()
    .where("org_id", "=", p("orgId"))
    .where("user_id", "=", p("userId"))
    .orderBy("contact_id"),
);
export async function listContactIds(reader: Reader, { orgId, userId }: Person): Promise<string[]> {
  return (await reader.all(selectContacts, { orgId, userId })).map(({ contact_id }) => contact_id);
}

const selectContact = prepare<Person & { contactId: string }, ContactRow>((db, p) =>
  db
    .selectFrom("mail_contacts")
    .selectAll()
    .where("org_id", "=", p("orgId"))
    .where("user_id", "=", p("userId"))
    .where("contact_id", "=", p("contactId")),
);
/** True if this person lets the contact's agents write to theirs. */
export async function isContact(
  reader: Reader,
  { orgId, userId }: Person,
  contactId: string,
): Promise<boolean> {
  return (await reader.first(selectContact, { orgId, userId, contactId })) !== undefined;
}

const insertContacts = inserter<ContactRow>("mail_contacts", ["org_id", "user_id", "contact_id"]);
const dropContacts = prepare<Person, unknown>((db, p) =>
  db
    .deleteFrom("mail_contacts")
    .where("org_id", "=", p("orgId"))
    .where("user_id", "=", p("userId")),
);
export async function saveContacts(
  tx: Tx,
  { orgId, userId }: Person,
  contactIds: readonly string[],
): Promise<void> {
  await tx.run(dropContacts, { orgId, userId });
  if (contactIds.length === 0) return;
  const rows = contactIds.map((contact_id) => ({ org_id: orgId, user_id: userId, contact_id }));
  await tx.execute(insertContacts(tx.dialect, rows));
}

/** Deletes a person's settings, and their entries in other people's contacts. */
export async function deleteSettingsOf(tx: Tx, { orgId, userId }: Person): Promise<void> {
  const db = builder<MailboxTables>(tx.dialect);
  await tx.execute(
    db
      .deleteFrom("notification_preferences")
      .where("org_id", "=", orgId)
      .where("user_id", "=", userId)
      .compile(),
  );
  await tx.execute(
    db
      .deleteFrom("mail_contacts")
      .where("org_id", "=", orgId)
      .where((eb) => eb.or([eb("user_id", "=", userId), eb("contact_id", "=", userId)]))
      .compile(),
  );
}
