/**
 * A request to a model, checked before it is passed on: which model it names, and that it asks for
 * nothing that the gateway cannot meter or must not give. Its bytes stay as they are, but for one
 * thing: a stream of chat completions is made to say what it used.
 */
import { type JsonBounds, requireJsonBounds } from "#base/json-bounds.ts";
import { Refusal } from "#base/refusal.ts";
import { type Fields, fieldsOf, listOf, type ModelRoute } from "./format.ts";
import { type JsonMember, membersOf } from "./json-members.ts";

export interface ModelRequest {
  model: string;
  body: Buffer;
}

const BOUNDS: JsonBounds = { depth: 128, values: 500_000 };
const MAX_MODEL_CHARS = 200;

export function readModelRequest(route: ModelRoute, body: Buffer): ModelRequest {
  requireJsonBounds(body, BOUNDS);
  const fields = parse(body);
  const members = membersOf(body);
  requireOnce(members);
  requireMeterable(fields);
  requireOwnTools(fields.tools);
  const { model } = fields;
  if (typeof model !== "string" || model === "" || model.length > MAX_MODEL_CHARS)
    throw invalid("gateway_model_missing", "Name the model of the run as `model`.");
  return { model, body: route === "chat/completions" ? withUsage(body, fields, members) : body };
}

function parse(body: Buffer): Fields {
  let value: unknown;
  try {
    // As it is written: a provider would not skip a byte order mark or mend broken bytes either.
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body));
  } catch {
    throw invalid("invalid_json", "The body is not JSON in UTF-8. Check quotes and commas.");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalid("invalid_json", "The body must be a JSON object with the request to the model.");
  return value as Fields;
}

/** Of a name that stands there twice the provider might read the other value. */
function requireOnce(members: readonly JsonMember[]): void {
  const names = new Set(members.map(({ name }) => name));
  if (names.size < members.length)
    throw invalid(
      "gateway_field_repeated",
      "A field of the request stands in it twice. Send it once.",
    );
}

/**
 * Fields that would have the provider use other models, answer later where nobody meters, charge
 * more than its list says, or read what others have stored with the same key.
 */
const REFUSED_FIELDS = [
  "models",
  "route",
  "provider",
  "plugins",
  "fallbacks",
  "prompt",
  "conversation",
  "previous_response_id",
  "web_search_options",
  "mcp_servers",
  "container",
] as const;
const USUAL_TIERS: ReadonlySet<unknown> = new Set(["auto", "default", "standard_only", "flex"]);

function requireMeterable(fields: Fields): void {
  const refused = REFUSED_FIELDS.find((name) => fields[name] != null);
  if (refused) throw refusedField(refused);
  if (fields.background != null && fields.background !== false) throw refusedField("background");
  if (fields.service_tier != null && !USUAL_TIERS.has(fields.service_tier))
    throw refusedField("service_tier");
}

function refusedField(name: string): Refusal {
  return invalid(
    "gateway_field_refused",
    `The model gateway does not pass on \`${name}\`. Leave it out.`,
  );
}

/** Tools that a client performs. Those of a provider cost more than tokens and reach the network. */
const OWN_TOOL =
  /^(?:function|custom|local_shell|shell|apply_patch|(?:bash|text_editor|memory|computer)_\d{8})$/;

function requireOwnTools(tools: unknown): void {
  for (const tool of listOf(tools)) {
    const { type } = fieldsOf(tool);
    if (type == null || (typeof type === "string" && OWN_TOOL.test(type))) continue;
    throw invalid(
      "gateway_tool_refused",
      "The model gateway passes on tools that the client performs, and none that the provider runs. Leave those out.",
    );
  }
}

/** Chat completions say what a stream used only when they are asked to. */
function withUsage(body: Buffer, fields: Fields, members: readonly JsonMember[]): Buffer {
  if (fields.stream !== true) return body;
  const options = fieldsOf(fields.stream_options);
  if (options.include_usage === true) return body;
  const value = JSON.stringify({ ...options, include_usage: true });
  const known = members.find(({ name }) => name === "stream_options");
  if (known)
    return Buffer.concat([
      body.subarray(0, known.start),
      Buffer.from(value),
      body.subarray(known.end),
    ]);
  // The object has members, `stream` at least, so a comma follows.
  const start = body.indexOf("{") + 1;
  return Buffer.concat([
    body.subarray(0, start),
    Buffer.from(`"stream_options":${value},`),
    body.subarray(start),
  ]);
}

function invalid(code: string, message: string): Refusal {
  return new Refusal("invalid", code, message);
}
