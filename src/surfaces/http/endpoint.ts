/**
 * One endpoint, defined once: its entry in the OpenAPI document, validation of the request, and the handler.
 * Our own code builds responses, so they are not validated again.
 */
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context } from "hono";
import type * as z from "zod";
import { cleanValue, mayHoldUnstorable } from "#base/text/clean-text.ts";
import type { ApiRoute } from "#protocol/api-route.ts";
import { type App, type AppEnv, sessionIdFor } from "./app.ts";
import type { Caller } from "./guards/callers.ts";
import { refuseInvalid, requireStorable } from "./input.ts";

export interface Input<R extends ApiRoute> {
  c: Context<AppEnv>;
  query: z.output<NonNullable<R["query"]>>;
  body: z.output<NonNullable<R["body"]>>;
}

export function endpoint<const R extends ApiRoute>(
  app: App,
  spec: R,
  handle: (input: Input<R>) => Promise<z.input<R["response"]> | Response>,
): void {
  app.specs.push(spec);
  const status = spec.status ?? 200;
  const paths = [spec.path, ...(spec.aliases ?? [])].map((path) =>
    path.replaceAll(/\{(\w+)\}/g, ":$1"),
  );
  app.hono.on(spec.method.toUpperCase(), paths, async (c) => {
    const query = spec.query
      ? resolveSessionFields(c, requireStorable(check(spec.query, queryOf(c))))
      : {};
    const body = spec.body
      ? resolveSessionFields(c, storable(c, check(spec.body, c.get("json") ?? {})))
      : {};
    const answer = await handle({ c, query, body } as Input<R>);
    if (answer instanceof Response) return answer;
    return sendJson(c, answer, status);
  });
}

/** Writes straight to the socket: a Response object would cost as much as all the rest of a request. */
function sendJson(c: Context<AppEnv>, answer: unknown, status: number): Response {
  const text = JSON.stringify(answer);
  const { outgoing } = c.env;
  outgoing.writeHead(status, {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(text),
  });
  outgoing.end(text);
  return RESPONSE_ALREADY_SENT;
}

function check<T extends z.ZodType>(schema: T, value: unknown): z.infer<T> {
  const parsed = schema.safeParse(value);
  return parsed.success ? parsed.data : refuseInvalid(parsed.error);
}

/**
 * Cleans a body so that every text can be stored. Its schema has refused exact values that cannot, such as
 * names; the rest is prose, and is kept as far as possible. An id that this changes finds nothing.
 */
function storable(c: Context<AppEnv>, body: unknown): unknown {
  return mayHoldUnstorable(c.get("rawBody") ?? "") ? cleanValue(body) : body;
}

/** Fields that name a session, here and in every feature. */
const SESSION_FIELDS = [
  "session",
  "sessionId",
  "parent",
  "parentSessionId",
  "fromSessionId",
  "contextSessionId",
];

/** Resolves aliases of sessions to ids. */
function resolveSessionFields(c: Context<AppEnv>, fields: unknown): unknown {
  const caller = c.get("caller") as Caller | undefined;
  if (!caller || typeof fields !== "object" || fields === null) return fields;
  const named = Object.entries(fields).filter(
    ([name, value]) => SESSION_FIELDS.includes(name) && typeof value === "string",
  );
  if (named.length === 0) return fields;
  const ids = named.map(([name, value]) => [name, sessionIdFor(caller.principal, value as string)]);
  return { ...fields, ...Object.fromEntries(ids) };
}

/** A repeated parameter becomes an array, which no schema accepts: it is refused instead of guessed. */
function queryOf(c: Context<AppEnv>): Record<string, string | string[]> {
  if (!c.req.url.includes("?")) return {};
  return Object.fromEntries(
    Object.entries(c.req.queries()).map(([name, values]) => [
      name,
      values.length === 1 ? (values[0] as string) : values,
    ]),
  );
}
