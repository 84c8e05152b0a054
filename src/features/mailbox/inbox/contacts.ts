/** People whose agents may write to a person's orchestrator when it accepts mail from a list. */
import { Refusal } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import { command, type Engine, type Person } from "#engine/index.ts";
import { listMembers } from "#features/auth/index.ts";
import { listContactIds, saveContacts } from "./preference-queries.ts";

export interface Contacts {
  items: { userId: string; name: string }[];
}

export function readContacts({ store }: Engine, person: Person): Promise<Contacts> {
  return store.read((reader) => contactsOf(reader, person));
}

/** Members who left are hidden, and cannot write. */
async function contactsOf(reader: Reader, person: Person): Promise<Contacts> {
  const ids = new Set(await listContactIds(reader, person));
  if (ids.size === 0) return { items: [] };
  const members = await listMembers(reader, person.orgId);
  const listed = members.filter(({ id }) => ids.has(id));
  return { items: listed.map(({ id, name }) => ({ userId: id, name })) };
}

export function changeContacts(
  engine: Engine,
  person: Person,
  userIds: readonly string[],
): Promise<Contacts> {
  const { orgId, userId } = person;
  return command(engine, async (work) => {
    const members = new Set((await listMembers(work.tx, orgId)).map(({ id }) => id));
    const wanted = [...new Set(userIds)].filter((id) => id !== userId);
    const unknown = wanted.find((id) => !members.has(id));
    if (unknown !== undefined)
      throw new Refusal(
        "invalid",
        "contact_unknown",
        `${JSON.stringify(unknown)} is not a member of this organisation. Use the ids of members.`,
      );
    await saveContacts(work.tx, person, wanted);
    await work.reportChange({
      orgId,
      by: `user:${userId}`,
      area: "mail",
      action: "contacts_changed",
      subjectId: userId,
    });
    return contactsOf(work.tx, person);
  });
}
