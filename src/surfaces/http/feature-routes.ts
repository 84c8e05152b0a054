/** The routes that features bring: served and documented like any other. */
import type { Kernel, RawAnswer } from "#engine/index.ts";
import { type App, idempotencyOf, principalOf } from "./app.ts";
import { endpoint } from "./endpoint.ts";
import { requireId } from "./input.ts";
import type { EndpointSpec } from "./openapi.ts";

export function featureRoutes(app: App, { engine, routes }: Kernel): void {
  for (const { handle, ...spec } of routes) {
    const names = [...spec.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
    endpoint(app, spec as EndpointSpec, async ({ c, query, body }) => {
      const params = Object.fromEntries(
        names.map((name) => [name, requireId(c.req.param(name), nounOf(spec.path))]),
      );
      const answer = await handle({
        engine,
        principal: principalOf(c),
        params,
        query: query as never,
        body: body as never,
        idempotency: idempotencyOf(c),
      });
      return isRaw(answer) ? new Response(bodyOf(answer), { headers: answer.raw.headers }) : answer;
    });
  }
}

/** `/api/approvals/{id}` speaks of an approval. */
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
