/** Adds a member to the owner's organisation, by invitation like a person with a browser. */
import type { Api } from "./api.ts";

const PASSWORD = "correct horse battery";

export interface JoinOptions {
  owner: Api;
  url: string;
  /** Scopes of the member's API key. */
  scopes: readonly string[];
}

/** Returns an API key of the new member. */
export async function joinAs(name: string, { owner, url, scopes }: JoinOptions): Promise<string> {
  const { org } = (await owner.get("/api/me")) as { org: { id: string } };
  const invited = await owner.send("POST", `/api/orgs/${org.id}/invitations`, { role: "member" });
  const token = new URL(String(invited.body.link)).hash.slice("#token=".length);
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
