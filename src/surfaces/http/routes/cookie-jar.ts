/** The cookies of browsers: the one that opens, and the one of a sign-in that is under way. */
import type { Context } from "hono";
import type { AppEnv } from "../app.ts";
import { cookieSecret } from "../callers.ts";

export interface CookieSettings {
  name: () => string;
  secure: boolean;
  baseUrl: () => string;
}

export interface Opened {
  cookie: string;
  expiresAt: number;
}

export interface CookieJar {
  give(c: Context<AppEnv>, opened: Opened): void;
  take(c: Context<AppEnv>): void;
  present(c: Context<AppEnv>): string | undefined;
  /** What a browser keeps while it is away at a provider. */
  giveFlow(c: Context<AppEnv>, flow: string): void;
  takeFlow(c: Context<AppEnv>): void;
  presentFlow(c: Context<AppEnv>): string | undefined;
}

/** As long as the server waits for it. */
const FLOW_SECONDS = 600;
const FLOW_PATH = "/api/auth";

export function cookieJar({ name, secure }: CookieSettings): CookieJar {
  const end = secure ? "; Secure" : "";
  const attributes = `Path=/; HttpOnly; SameSite=Strict${end}`;
  // Lax, because it is a page elsewhere that sends the browser back; no other request carries it.
  const flowAttributes = `Path=${FLOW_PATH}; HttpOnly; SameSite=Lax${end}`;
  const flowName = () => `${name()}_flow`;
  // On Node's own response, so that every kind of answer carries them; one answer may set both.
  const set = (c: Context<AppEnv>, value: string) =>
    void c.env.outgoing.appendHeader("Set-Cookie", value);
  return {
    give(c, { cookie: secret, expiresAt }) {
      const until = new Date(expiresAt).toUTCString();
      set(c, `${name()}=${secret}; ${attributes}; Expires=${until}`);
    },
    take: (c) => set(c, `${name()}=; ${attributes}; Max-Age=0`),
    present: (c) => cookieSecret(c.req.header("cookie"), name()),
    giveFlow: (c, flow) =>
      set(c, `${flowName()}=${flow}; ${flowAttributes}; Max-Age=${FLOW_SECONDS}`),
    takeFlow: (c) => set(c, `${flowName()}=; ${flowAttributes}; Max-Age=0`),
    presentFlow: (c) => cookieSecret(c.req.header("cookie"), flowName()),
  };
}
