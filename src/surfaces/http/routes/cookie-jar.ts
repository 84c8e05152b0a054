/** The cookies of browsers: the one that opens, and one for each sign-in that is under way. */
import { hash } from "node:crypto";
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
  /** What a browser keeps while it is away at a provider; each of its tabs may be. */
  giveFlow(c: Context<AppEnv>, state: string, flow: string): void;
  takeFlow(c: Context<AppEnv>, state: string): void;
  presentFlow(c: Context<AppEnv>, state: string): string | undefined;
}

/** As long as the server waits for it. */
const FLOW_SECONDS = 600;
const FLOW_PATH = "/api/auth";
/** Tabs at once; who begins more gives up the oldest. */
const MAX_FLOWS = 6;

export function cookieJar({ name, secure }: CookieSettings): CookieJar {
  const end = secure ? "; Secure" : "";
  const attributes = `Path=/; HttpOnly; SameSite=Strict${end}`;
  // Lax, because it is a page elsewhere that sends the browser back; no other request carries it.
  const flowAttributes = `Path=${FLOW_PATH}; HttpOnly; SameSite=Lax${end}`;
  const flowPrefix = () => `${name()}_flow_`;
  const flowName = (state: string) => flowPrefix() + hash("sha256", state, "hex").slice(0, 12);
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
    giveFlow(c, state, flow) {
      // Browsers send the oldest first.
      const others = cookieNames(c.req.header("cookie")).filter((other) => isFlow(other));
      for (const old of others.slice(0, Math.max(0, others.length - MAX_FLOWS + 1))) drop(c, old);
      set(c, `${flowName(state)}=${flow}; ${flowAttributes}; Max-Age=${FLOW_SECONDS}`);
    },
    takeFlow: (c, state) => drop(c, flowName(state)),
    presentFlow: (c, state) => cookieSecret(c.req.header("cookie"), flowName(state)),
  };

  /** Only what we have named ourselves may be named in an answer. */
  function isFlow(other: string): boolean {
    return (
      other.startsWith(flowPrefix()) && /^[0-9a-f]{12}$/.test(other.slice(flowPrefix().length))
    );
  }
  function drop(c: Context<AppEnv>, flow: string): void {
    set(c, `${flow}=; ${flowAttributes}; Max-Age=0`);
  }
}

function cookieNames(header: string | undefined): string[] {
  return (header ?? "").split(";").map((part) => part.split("=", 1)[0]?.trim() ?? "");
}
