/**
 * Signs in from the command line: e-mail and password become a key of this machine. It has a transport
 * of its own, because no key is known yet and the cookie in between is used once.
 */
import { Refusal } from "#base/refusal.ts";
import { type ClientRequest, createClient } from "#client/index.ts";
import { type ApiKey, KEY_SCOPES } from "#features/auth/contract.ts";
import { refusalFrom } from "#surfaces/cli/client/server-refusal.ts";

/** Makes a key with all scopes that the person may give one. */
export async function makeKeyByPassword(
  url: string,
  proof: { email: string; password: string },
  name: string,
): Promise<{ apiKey: ApiKey; key: string }> {
  let cookie: string | undefined;
  const client = createClient(async (request) => {
    const identity = cookie === undefined ? {} : { cookie, origin: new URL(url).origin };
    const answer = await send(url, request, identity);
    cookie ??= (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    return answer.json();
  });
  await client.auth.signIn({ body: proof });
  try {
    const { user } = await client.me.get();
    const scopes = KEY_SCOPES.filter((scope) => scope !== "admin" || user.role === "admin");
    return await client.me.createApiKey({ body: { name, scopes } });
  } finally {
    await client.auth.signOut();
  }
}

async function send(
  url: string,
  { method, path, body }: ClientRequest,
  identity: Readonly<Record<string, string>>,
): Promise<Response> {
  const init: RequestInit = {
    method,
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...identity },
    redirect: "error",
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
  const answer = await fetch(url + path, init).catch((error: unknown) => {
    throw new Refusal("unavailable", "not_reachable", `No server answers at ${url}.`, {
      cause: error,
    });
  });
  if (!answer.ok) throw refusalFrom(answer.status, await answer.text());
  return answer;
}
