/** Adds a member to the owner's organisation, by invitation like a person with a browser. */
import type { KeyScope } from "#test/clients/people.ts";
import type { Api } from "./api.ts";

const PASSWORD = "correct horse battery";

export interface JoinOptions {
  owner: Api;
  url: string;
  /** Scopes of the member's API key. */
  scopes: readonly KeyScope[];
}

/** Returns an API key of the new member. */
export async function joinAs(name: string, { owner, url, scopes }: JoinOptions): Promise<string> {
  const { org } = await owner.patient.me.get();
  const { link } = await owner.once.orgs.invite({ orgId: org.id, body: { role: "member" } });
  const token = new URL(link).hash.slice("#token=".length);
  const post = async (path: string, body: object, cookie: string) =>
    fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: url, cookie },
      body: JSON.stringify(body),
    });
  const email = `${name}@example.org`;
  const joined = await post(
    `/api/invitations/${token}/accept`,
    { name, email, password: PASSWORD },
    "",
  );
  const cookie = (joined.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  const made = await post("/api/me/api-keys", { name: "round", scopes }, cookie);
  const { key } = (await made.json()) as { key?: string };
  if (key === undefined) throw new Error(`${name} has no key: ${joined.status}, ${made.status}`);
  return key;
}
