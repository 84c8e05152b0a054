/** People with their own browsers, for journeys: they join by invitation and send a cookie. */
import { WebSocket } from "ws";
import {
  type ApiRoutes,
  type BodyOf,
  type Client,
  createClient,
  type FetchTransportOptions,
  fetchTransport,
} from "#client/index.ts";
import { fetchKept, type Platform, type PlatformResponse } from "#test/platform.ts";

export const PASSWORD = "correct horse battery";

export type KeyScope = BodyOf<ApiRoutes["me"]["createApiKey"]>["scopes"][number];

export interface Browser {
  userId: string;
  email: string;
  cookie: string;
  /** The typed client with this person's cookie. */
  api: Client;
  /** Sends a request as it is, for tests of refusals and headers. */
  request<T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<PlatformResponse<T>>;
}

export async function orgOf(platform: Platform): Promise<{ orgId: string; ownerId: string }> {
  const { org, user } = await platform.api.me.get();
  return { orgId: org.id, ownerId: user.id };
}

/** The typed client of a program with this key, such as one with few scopes. */
export function clientWithKey(platform: Platform, key: string): Client {
  return clientOf(platform, { key });
}

function clientOf({ url }: Platform, sender: Omit<FetchTransportOptions, "baseUrl">): Client {
  return createClient(fetchTransport({ ...sender, baseUrl: url, fetch: fetchKept }));
}

export async function inviteToken(
  platform: Platform,
  fields: BodyOf<ApiRoutes["orgs"]["invite"]> = {},
): Promise<string> {
  const { orgId } = await orgOf(platform);
  const { link } = await platform.api.orgs.invite({ orgId, body: fields });
  return new URL(link).hash.slice("#token=".length);
}

interface AnonymousBody {
  error?: { code: string; message: string };
  user?: { id: string };
}

/** Sends a request without any credential, as a stranger's browser would. */
export async function postAnonymously(
  platform: Platform,
  path: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<PlatformResponse<AnonymousBody>> {
  const response = await fetch(platform.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return {
    status: response.status,
    body: (await response.json()) as AnonymousBody,
    headers: response.headers,
  };
}

export function cookieOf(answer: { headers: Headers }): string {
  return (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
}

export async function join(
  platform: Platform,
  name: string,
  role: "admin" | "member" = "member",
): Promise<Browser> {
  const token = await inviteToken(platform, { role });
  const email = `${name.toLowerCase()}@example.org`;
  const path = `/api/invitations/${token}/accept`;
  const joined = await postAnonymously(platform, path, { name, email, password: PASSWORD });
  if (joined.status !== 201) throw new Error(`not joined: ${JSON.stringify(joined.body)}`);
  return browserOf(platform, joined.body.user?.id ?? "", email, cookieOf(joined));
}

export async function signIn(platform: Platform, email: string, password = PASSWORD) {
  return postAnonymously(platform, "/api/auth/sign-in", { email, password });
}

export function browserOf(
  platform: Platform,
  userId: string,
  email: string,
  cookie: string,
): Browser {
  return {
    userId,
    email,
    cookie,
    api: clientOf(platform, { headers: () => ({ cookie, origin: platform.url }) }),
    async request<T>(
      method: string,
      path: string,
      body?: unknown,
      headers: Record<string, string> = {},
    ) {
      const response = await fetch(platform.url + path, {
        method,
        headers: {
          cookie,
          origin: platform.url,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return {
        status: response.status,
        body: (text === "" ? {} : JSON.parse(text)) as T,
        headers: response.headers,
      };
    },
  };
}

/** Status of an upgrade request. An accepted socket is closed at once. */
export function upgradeStatus(
  platform: Platform,
  path: string,
  headers: Record<string, string>,
): Promise<number> {
  return new Promise((resolve) => {
    const socket = new WebSocket(platform.url.replace("http", "ws") + path, { headers });
    socket.on("unexpected-response", (_request, response) => {
      resolve(response.statusCode ?? 0);
      socket.terminate();
    });
    socket.on("open", () => {
      resolve(101);
      socket.terminate();
    });
    socket.on("error", () => {});
  });
}

export function openSocket(
  platform: Platform,
  path: string,
  headers: Record<string, string>,
): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(platform.url.replace("http", "ws") + path, { headers });
    socket.on("error", reject);
    socket.on("open", () => resolve(socket));
  });
}

export function closeCode(socket: WebSocket): Promise<number> {
  return new Promise((resolve) => socket.once("close", resolve));
}

/** Sends one frame on a live socket and returns the next message. */
export function ask(socket: WebSocket, frame: object): Promise<Record<string, unknown>> {
  return new Promise((resolve) => {
    socket.once("message", (data) => resolve(JSON.parse(String(data))));
    socket.send(JSON.stringify(frame));
  });
}
