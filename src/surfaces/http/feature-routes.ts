/** Routes of features, served and documented like any other. */
import type { Kernel, RawAnswer } from "#engine/index.ts";
import { type App, idempotencyOf, principalOf, sessionIdFor } from "./app.ts";
import { endpoint } from "./endpoint.ts";
import { requireId, requireName } from "./input.ts";

export function featureRoutes(app: App, { engine, routes }: Kernel): void {
  for (const { handle, statusOf, ...spec } of routes) {
    const names = [...spec.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
    endpoint(app, spec, async ({ c, query, body }) => {
      const params = Object.fromEntries(
        names.map((name) => [name, paramOf(name, c.req.param(name), nounOf(spec.path))]),
      );
      const principal = principalOf(c);
      for (const name of names.filter((one) => isSession(spec.path, one)))
        params[name] = sessionIdFor(principal, params[name] as string);
      const answer = await handle({
        engine,
        principal,
        params,
        query: query as never,
        body: body as never,
        idempotency: idempotencyOf(c),
      });
      if (statusOf) return Response.json(answer, { status: statusOf(answer as never) });
      return isRaw(answer) ? new Response(bodyOf(answer), { headers: answer.raw.headers }) : answer;
    });
  }
}

/** Checks a parameter. Ids are ours; people choose names, and the feature that stores one validates it. */
function paramOf(name: string, given: string | undefined, noun: string): string {
  return name === "name" ? requireName(given) : requireId(given, noun);
}

function isSession(path: string, name: string): boolean {
  return name === "sessionId" || path.includes(`/sessions/{${name}}`);
}

/** Derives the noun from the path: `/api/approvals/{id}` names an approval. */
function nounOf(path: string): string {
  const collection = /\/([\w-]+)\/\{\w+\}/.exec(path)?.[1] ?? "thing";
  return collection.replace(/s$/, "");
}

function isRaw(answer: unknown): answer is RawAnswer {
  return typeof answer === "object" && answer !== null && "raw" in answer;
}

function bodyOf({ raw }: RawAnswer): string | ArrayBuffer {
  return typeof raw.body === "string" ? raw.body : new Uint8Array(raw.body).buffer;
}
