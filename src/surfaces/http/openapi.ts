/**
 * The API as an OpenAPI 3.1 document, made from the very schemas that check the requests. It is
 * made when somebody asks for it, so a server that nobody asks does not carry it.
 */
import * as z from "zod";

export interface EndpointSpec {
  method: "get" | "post" | "patch" | "delete" | "put";
  /** With `{name}` for parameters. */
  path: string;
  summary: string;
  tag: string;
  query?: z.ZodType;
  body?: z.ZodType;
  status?: 200 | 201 | 202;
  response: z.ZodType;
}

type Json = Record<string, unknown>;

const errorSchema = z
  .object({
    error: z.object({
      code: z.string(),
      message: z.string(),
      details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    }),
  })
  .meta({ id: "Error" });

export function openApiDocument(specs: readonly EndpointSpec[], version: string): Json {
  const components: Json = {};
  const paths: Record<string, Json> = {};
  for (const spec of specs) {
    paths[spec.path] = { ...paths[spec.path], [spec.method]: operation(spec, components) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Muster", version },
    security: [{ bearer: [] }],
    paths,
    components: {
      schemas: components,
      securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
    },
  };
}

function operation(spec: EndpointSpec, components: Json): Json {
  const content = (schema: z.ZodType, io: "input" | "output") => ({
    "application/json": { schema: jsonSchema(schema, io, components) },
  });
  return {
    summary: spec.summary,
    tags: [spec.tag],
    parameters: [...pathParameters(spec.path), ...queryParameters(spec.query, components)],
    ...(spec.body ? { requestBody: { content: content(spec.body, "input") } } : {}),
    responses: {
      [spec.status ?? 200]: { description: "Done", content: content(spec.response, "output") },
      default: {
        description: "A refusal with a stable code",
        content: content(errorSchema, "output"),
      },
    },
  };
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
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema,
  }));
}

/** Schemas that have a name are written once, among the components. */
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
