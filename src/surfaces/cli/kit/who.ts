/** Names of actors: keys such as `user:usr_…` and `session:ses_…` are for programs. */
import type { Member } from "#features/orgs/contract.ts";
import type { Api } from "../client/api.ts";
import { ServerRefusal } from "../client/server-refusal.ts";
import { shorten } from "./text/terminal.ts";

const NAME_WIDTH = 60;

export interface People {
  me: string;
  members: readonly Member[];
}

export async function readPeople(api: Api): Promise<People> {
  const { user, org } = await api.again.me.get();
  const { items } = await api.again.orgs.listMembers({ orgId: org.id });
  return { me: user.id, members: items };
}

/** Resolves the organisation of the caller. */
export async function resolveOrgId(api: Api): Promise<string> {
  return (await api.me.get()).org.id;
}

/** Keeps the key of an actor who is hidden or gone. */
export async function namesOf(api: Api, keys: readonly string[]): Promise<Map<string, string>> {
  const wanted = new Set(keys);
  const names = new Map([["system", "Muster"]]);
  if ([...wanted].some((key) => key.startsWith("user:"))) {
    const people = await unlessRefused(() => readPeople(api));
    for (const { userId, name } of people?.members ?? []) names.set(`user:${userId}`, name);
    if (people) names.set(`user:${people.me}`, "you");
  }
  for (const key of wanted) {
    if (!key.startsWith("session:")) continue;
    const id = key.slice("session:".length);
    const found = await unlessRefused(() => api.again.sessions.get({ id }));
    const title = found?.session.title ?? null;
    if (title !== null) names.set(key, shorten(title, NAME_WIDTH));
  }
  return names;
}

async function unlessRefused<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ServerRefusal) return;
    throw error;
  }
}
