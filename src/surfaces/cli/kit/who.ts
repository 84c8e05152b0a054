/** Who did something, by name: keys such as `user:usr_…` and `session:ses_…` are for programs. */
import type { Me } from "#features/auth/contract.ts";
import type { Member } from "#features/orgs/contract.ts";
import type { Page } from "#protocol/page.ts";
import type { Session } from "#protocol/sessions.ts";
import type { Api } from "../client/api.ts";
import { ServerRefusal } from "../client/server-refusal.ts";
import { sessionPath } from "./session-path.ts";
import { shorten } from "./terminal.ts";

const NAME_WIDTH = 60;

export interface People {
  me: string;
  members: readonly Member[];
}

export async function readPeople(api: Api): Promise<People> {
  const { user, org } = await api.callAgain<Me>("/api/me");
  const path = `/api/orgs/${encodeURIComponent(org.id)}/members`;
  return { me: user.id, members: (await api.callAgain<Page<Member>>(path)).items };
}

/** Whoever cannot be seen, or is gone, stays as they were written. */
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
    const path = sessionPath(key.slice("session:".length));
    const found = await unlessRefused(() => api.callAgain<{ session: Session }>(path));
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
