/**
 * Operations to try: every route of the API document, the tools of `/mcp`, and paths beside them.
 */
import type { Platform } from "#test/platform.ts";
import type { Schema } from "./from-schema.ts";

export interface Operation {
  method: string;
  /** Path with `{name}` for parameters. */
  path: string;
  query: readonly { name: string; schema: Schema }[];
  body: Schema | undefined;
  /** Relative frequency: expensive operations come less often. */
  weight: number;
}

export interface OperationTable {
  operations: readonly Operation[];
  components: Readonly<Record<string, Schema>>;
}

interface ApiDocument {
  paths: Record<string, Record<string, ApiOperation>>;
  components: { schemas: Record<string, Schema> };
}

interface ApiOperation {
  parameters: { name: string; in: string; schema: Schema }[];
  requestBody?: { content: { "application/json": { schema: Schema } } };
}

/** Passwords are hashed slowly on purpose; imports download. */
const COSTLY = /password|sign-in$|accept$|import$|sync$|\/prune$|audit\/verify$/;
const RARE = 0.15;
const MCP_WEIGHT = 15;

const BESIDE: readonly [string, string][] = [
  ["GET", "/health"],
  ["GET", "/ready"],
  ["GET", "/metrics"],
  ["GET", "/"],
  ["GET", "/{name}"],
  ["GET", "/assets/{name}"],
  ["GET", "/api/docs"],
  ["GET", "/api/docs/{name}"],
  ["GET", "/api/v1/sessions/{id}"],
  ["GET", "/api/{name}"],
  ["PUT", "/api/sessions"],
  ["OPTIONS", "/api/sessions"],
  ["HEAD", "/api/sessions"],
  ["POST", "/api/gateway/{name}/v1/messages"],
  ["POST", "/api/gateway/{name}/chat/completions"],
  ["GET", "/previews/{name}/{file}"],
  ["GET", "/api/previews/{name}/{file}"],
  ["GET", "/mcp"],
  ["DELETE", "/mcp"],
  ["GET", "/api/live"],
  ["GET", "/api/runners/connect"],
];

export async function listOperations(platform: Platform): Promise<OperationTable> {
  const { body } = await platform.request<ApiDocument>("GET", "/api/openapi.json");
  const documented = Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters, requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      query: parameters.filter((parameter) => parameter.in === "query"),
      body: requestBody?.content["application/json"].schema,
      weight: COSTLY.test(path) ? RARE : 1,
    })),
  );
  if (documented.length < 100) throw new Error("the API document lacks routes");
  const beside = BESIDE.map(([method, path]) => ({
    method,
    path,
    query: [{ name: "q", schema: { type: "string" } }],
    body: method === "POST" ? { type: "object" } : undefined,
    weight: 1,
  }));
  const tools: Operation = {
    method: "POST",
    path: "/mcp",
    query: [],
    body: undefined,
    weight: MCP_WEIGHT,
  };
  return { operations: [...documented, ...beside, tools], components: body.components.schemas };
}
