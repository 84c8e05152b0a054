/**
 * The API as an OpenAPI 3.1 document, built from the schemas that check the requests. It is built on request,
 * so it costs no memory before that.
 */
import * as z from "zod";
import type { ApiRoute } from "#protocol/api-route.ts";
import { operationId, tagsOf } from "./openapi-names.ts";
import { REFUSAL_CODES, type RefusalStatus } from "./refusal-codes.ts";

type Json = Record<string, unknown>;

const errorSchema = z
  .object({
    error: z.object({
      code: z.string().describe("Stable, for programs."),
      message: z.string().describe("Says what to do next; the wording may change."),
      details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    }),
  })
  .meta({ id: "Error" });

const ABOUT =
  "Orchestrates AI agents on your own machines. A single resource is `{<name>: …}`, a list `{items, next}`: send `next` back as `cursor` for the next page. Bodies with unknown fields are refused. Every refusal has a stable code.";

/** `isPublic`: true for paths that need no credential. */
export function openApiDocument(
  specs: readonly ApiRoute[],
  version: string,
  isPublic: (path: string) => boolean,
): Json {
  const components: Json = {};
  const paths: Record<string, Json> = {};
  jsonSchema(errorSchema, "output", components);
  for (const spec of specs) {
    const described = operation(spec, components, isPublic(spec.path));
    paths[spec.path] = { ...paths[spec.path], [spec.method]: described };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Muster",
      version,
      description: ABOUT,
      license: { name: "MIT License", identifier: "MIT" },
    },
    servers: [{ url: "/", description: "The server that served this document" }],
    security: [{ bearer: [] }],
    tags: tagsOf(specs),
    paths,
    components: {
      schemas: components,
      responses: Object.fromEntries(
        REFUSALS.map(([status, name, words]) => [name, refusal(status, words)]),
      ),
      parameters: { IdempotencyKey: IDEMPOTENCY_KEY },
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description: "An API key (`muster keys add`), or the owner's key.",
        },
      },
    },
  };
}

const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "Identifies this request: repeated within seven days with the same body, it returns the first result and creates nothing new.",
  schema: { type: "string", pattern: "^[\\x21-\\x7e]{1,200}$" },
};

const REFUSALS: readonly [RefusalStatus, name: string, words: string][] = [
  [400, "BadRequest", "The request is not valid"],
  [401, "Unauthorized", "The credential is missing or no longer valid"],
  [403, "Forbidden", "Known to you, but not allowed"],
  [404, "NotFound", "Missing, deleted or not yours; the answer is the same"],
  [409, "Conflict", "Conflicts with the present state"],
  [413, "TooLarge", "Too large"],
  [415, "UnsupportedMediaType", "Unsupported media type"],
  [429, "TooManyRequests", "A limit is reached"],
  [503, "Unavailable", "The server cannot do it now"],
];
const WITH_RETRY: ReadonlySet<RefusalStatus> = new Set([429, 503]);

/** Codes are an open list: a program must accept an unknown one. */
function refusal(status: RefusalStatus, description: string): Json {
  const retry = {
    "Retry-After": { description: "Seconds to wait.", schema: { type: "integer" } },
  };
  const code = { type: "string", "x-extensible-enum": REFUSAL_CODES[status] };
  const error = { type: "object", properties: { code } };
  return {
    description: `${description}. Codes: ${REFUSAL_CODES[status].join(", ")}.`,
    ...(WITH_RETRY.has(status) ? { headers: retry } : {}),
    content: {
      "application/json": {
        schema: {
          allOf: [
            { $ref: "#/components/schemas/Error" },
            { type: "object", properties: { error } },
          ],
        },
      },
    },
  };
}

function operation(spec: ApiRoute, components: Json, isPublic: boolean): Json {
  const content = (schema: z.ZodType, io: "input" | "output") => ({
    [(io === "output" && spec.mediaType) || "application/json"]: {
      schema: jsonSchema(schema, io, components),
    },
  });
  const done = { description: "Done", content: content(spec.response, "output") };
  const statuses = [spec.status ?? 200, ...(spec.otherStatuses ?? [])];
  return {
    operationId: operationId(spec),
    summary: spec.summary,
    tags: [spec.tag],
    ...(isPublic ? { security: [] } : {}),
    parameters: [
      ...pathParameters(spec.path),
      ...queryParameters(spec.query, components),
      ...(spec.takesIdempotencyKey ? [{ $ref: "#/components/parameters/IdempotencyKey" }] : []),
    ],
    ...(spec.body
      ? { requestBody: { required: needsBody(spec.body), content: content(spec.body, "input") } }
      : {}),
    responses: {
      ...Object.fromEntries(statuses.map((status) => [status, done])),
      ...refusals(spec, isPublic),
    },
  };
}

/** True unless an empty body is valid. */
function needsBody(body: z.ZodType): boolean {
  return !body.safeParse({}).success;
}

function refusals({ path, method, query, body }: ApiRoute, isPublic: boolean): Json {
  const isRead = method === "get";
  const hasInput = query !== undefined || body !== undefined;
  const possible: Record<RefusalStatus, boolean> = {
    400: hasInput || !isRead,
    401: true,
    403: !isPublic || !isRead,
    404: path.includes("{"),
    409: !isRead || path.includes("{"),
    413: body !== undefined,
    415: body !== undefined,
    429: true,
    503: true,
  };
  const named = REFUSALS.filter(([status]) => possible[status]);
  return Object.fromEntries(
    named.map(([status, name]) => [status, { $ref: `#/components/responses/${name}` }]),
  );
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

function queryParameters(query: z.ZodType | undefined, components: Json): Json[] {
  if (!query) return [];
  const { properties = {}, required = [] } = jsonSchema(query, "input", components) as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema,
  }));
}

/** Writes named schemas once, among the components. */
function jsonSchema(schema: z.ZodType, io: "input" | "output", components: Json): Json {
  const {
    $schema: _dialect,
    $defs = {},
    ...rest
  } = z.toJSONSchema(schema, { io, unrepresentable: "any" }) as Json;
  const hoist = (value: unknown) =>
    JSON.parse(JSON.stringify(value).replaceAll("#/$defs/", "#/components/schemas/")) as Json;
  for (const [name, definition] of Object.entries($defs as Record<string, Json>)) {
    components[name] = hoist(withoutId(definition));
  }
  if (typeof rest.id !== "string") return hoist(rest);
  components[rest.id] = hoist(withoutId(rest));
  return { $ref: `#/components/schemas/${rest.id}` };
}

function withoutId({ id: _id, ...rest }: Json): Json {
  return rest;
}
