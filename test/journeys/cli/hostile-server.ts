/**
 * A server derived from the API document: it answers every request with a value of its schema, and
 * puts hostile text into every free string.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Terminal commands, and characters that move or hide the text around them. */
export const HOSTILE =
  "x\u001b]52;c;ZXZpbA==\u0007\u001b[2J\u001b[31my\u009b2Jz\u007f\u0085\u202eb\u2066c\u2069\u200f\r\b\u061c\u2028w";

/** Characters that only our own code may write to a terminal. */
export const FORBIDDEN = /[[\p{Cc}\p{Bidi_Control}\u2028\u2029]--[\n\t]]/v;

interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  format?: string;
  pattern?: string;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema | false;
  prefixItems?: Schema[];
  minimum?: number;
}

interface Operation {
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}

export interface ApiDocument {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

const MAX_DEPTH = 8;

type Sample = (schema: Schema) => unknown;

/** Makes values that fit a schema and are hostile wherever the schema allows it. */
function createSampler({ components }: ApiDocument, depth = 0): Sample {
  return (schema) => {
    if (depth > MAX_DEPTH) return null;
    const sample = createSampler({ paths: {}, components }, depth + 1);
    if (schema.$ref !== undefined) return sample(namedSchema(components, schema.$ref));
    if ("const" in schema) return schema.const;
    if (schema.enum) return schema.enum[0];
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices) return sample(choices.find(({ type }) => type !== "null") ?? {});
    if (schema.allOf) return Object.assign({}, ...schema.allOf.map(sample));
    return plainSample(schema, sample);
  };
}

function namedSchema({ schemas }: ApiDocument["components"], reference: string): Schema {
  return schemas[reference.split("/").at(-1) ?? ""] ?? {};
}

function plainSample(schema: Schema, sample: Sample): unknown {
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case "string":
      return stringSample(schema);
    case "integer":
    case "number":
      return Math.max(1, schema.minimum ?? 1);
    case "boolean":
      return true;
    case "null":
      return null;
    case "array":
      return (schema.prefixItems ?? [schema.items || {}]).map(sample);
    case "object":
      return objectSample(schema, sample);
    default:
      return { [HOSTILE]: HOSTILE, input: { command: HOSTILE }, text: HOSTILE };
  }
}

function objectSample(schema: Schema, sample: Sample): unknown {
  const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => [
    name,
    // No next page: reading the list would never end.
    name === "next" || name === "mergedInto" ? null : sample(field),
  ]);
  const more =
    typeof schema.additionalProperties === "object"
      ? [[HOSTILE, sample(schema.additionalProperties)]]
      : [];
  return Object.fromEntries([...fields, ...more]);
}

function stringSample({ format, pattern }: Schema): string {
  if (format === "date-time") return new Date(0).toISOString();
  if (pattern !== undefined && !new RegExp(pattern, "u").test(HOSTILE)) return "ses_1";
  return HOSTILE;
}

export interface HostileServer {
  url: string;
  /** Requests that the document does not describe. */
  readonly unknown: string[];
  isRefusing: boolean;
  stop(): Promise<void>;
}

export async function startHostileServer(document: ApiDocument): Promise<HostileServer> {
  const state = { isRefusing: false, unknown: [] as string[] };
  const http = createServer((request, response) => answer(document, state, request, response));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return Object.assign(state, {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    stop: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  });
}

function answer(
  document: ApiDocument,
  state: { isRefusing: boolean; unknown: string[] },
  request: IncomingMessage,
  response: ServerResponse,
): void {
  request.resume();
  const path = (request.url ?? "/").split("?")[0] ?? "/";
  const method = (request.method ?? "GET").toLowerCase();
  const operation = operationOf(document, method, path);
  if (!operation) state.unknown.push(`${method} ${path}`);
  if (state.isRefusing || !operation) {
    const details = [{ path: HOSTILE, message: HOSTILE }];
    send(response, 422, { error: { code: HOSTILE, message: HOSTILE, details } });
    return;
  }
  const [status = "200", { content }] = Object.entries(operation.responses).find(([code]) =>
    code.startsWith("2"),
  ) ?? ["200", {}];
  const schema = content?.["application/json"]?.schema ?? {};
  send(response, Number(status), createSampler(document)(schema));
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

/** The operation whose path has the most literal words. */
function operationOf({ paths }: ApiDocument, method: string, path: string): Operation | undefined {
  const wanted = path.split("/");
  const fits = Object.entries(paths).filter(([template, operations]) => {
    const words = template.split("/");
    return (
      operations[method] !== undefined &&
      words.length === wanted.length &&
      words.every((word, at) => word.startsWith("{") || word === wanted[at])
    );
  });
  const best = fits.sort(([a], [b]) => a.split("{").length - b.split("{").length)[0];
  return best?.[1][method];
}
