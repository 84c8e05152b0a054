/**
 * Signing in from the command line: e-mail and password become a key of this machine. Apart from the
 * ordinary client, because nobody is known yet and the cookie in between is used once.
 */
import { Refusal } from "#base/refusal.ts";
import { type ApiKey, KEY_SCOPES } from "#features/auth/contract.ts";
import { refusalFrom } from "#surfaces/cli/client/server-refusal.ts";

export interface MadeKey {
  apiKey: ApiKey;
  key: string;
}

/** A key with all that the person may give one. */
export async function makeKeyByPassword(
  url: string,
  proof: { email: string; password: string },
  name: string,
): Promise<MadeKey> {
  const signedIn = await post(url, "/api/auth/sign-in", proof);
  const cookie = (signedIn.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  const headers = { cookie, origin: new URL(url).origin };
  try {
    const { user } = (await (await send(url, "/api/me", { headers })).json()) as {
      user: { role: string };
    };
    const scopes = KEY_SCOPES.filter((scope) => scope !== "admin" || user.role === "admin");
    const made = await post(url, "/api/me/api-keys", { name, scopes }, headers);
    return (await made.json()) as MadeKey;
  } finally {
    await post(url, "/api/auth/sign-out", {}, headers);
  }
}

function post(url: string, path: string, body: object, headers: Record<string, string> = {}) {
  return send(url, path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

async function send(url: string, path: string, init: RequestInit): Promise<Response> {
  const answer = await fetch(url + path, { ...init, redirect: "error" }).catch((error: unknown) => {
    throw new Refusal("unavailable", "not_reachable", `No server answers at ${url}.`, {
      cause: error,
    });
  });
  if (!answer.ok) throw refusalFrom(answer.status, await answer.text());
  return answer;
}
