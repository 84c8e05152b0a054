/**
 * Checks a request to a model before it is passed on: it names a model, and asks for nothing that the gateway
 * cannot meter or must not allow. Its bytes stay as they are, with one exception: a stream of chat
 * completions is made to report its usage.
 */

import { Refusal } from "#base/refusal.ts";
import { type JsonBounds, requireJsonBounds } from "#base/text/json-bounds.ts";
import { type Fields, fieldsOf, listOf, type ModelRoute } from "./format.ts";
import { type JsonMember, membersOf } from "./json-members.ts";

export interface ModelRequest {
  model: string;
  body: Buffer;
}

const BOUNDS: JsonBounds = { depth: 128, values: 100_000 };
const MAX_MODEL_CHARS = 200;

export function readModelRequest(route: ModelRoute, body: Buffer): ModelRequest {
  requireJsonBounds(body, BOUNDS);
  const given = parse(body);
  const members = membersOf(body).map((member) => ({ ...member, name: foldName(member.name) }));
  requireOnce(members);
  const fields = withFoldedNames(given);
  requireMeterable(fields);
  requireOwnTools(fields.tools);
  for (const content of [fields.messages, fields.input, fields.system]) requireOwnContent(content);
  const { model } = fields;
  if (typeof model !== "string" || model === "" || model.length > MAX_MODEL_CHARS)
    throw invalid("gateway_model_missing", "Name the model of the run as `model`.");
  return { model, body: route === "chat/completions" ? withUsage(body, fields, members) : body };
}

function parse(body: Buffer): Fields {
  let value: unknown;
  try {
    // Decoded strictly: a provider would not skip a byte order mark or repair broken bytes either.
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body));
  } catch {
    throw invalid("invalid_json", "The body is not JSON in UTF-8. Check quotes and commas.");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalid("invalid_json", "The body must be a JSON object with the request to the model.");
  return value as Fields;
}

/** Some parsers read `Model` as `model`, so both count as the same name. */
function foldName(name: string): string {
  return name.normalize("NFKC").toLowerCase();
}

function withFoldedNames(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [foldName(name), value]));
}

/** Refuses duplicate names: the provider might read the other value. */
function requireOnce(members: readonly JsonMember[]): void {
  const names = new Set(members.map(({ name }) => name));
  if (names.size < members.length)
    throw invalid("gateway_field_repeated", "A field of the request appears twice. Send it once.");
}

/**
 * Fields that would make the provider use other models, respond later without metering, charge more than its
 * list price, or read data that others have stored with the same key.
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
/** Fields that cost nothing extra with these values. */
const USUAL_VALUES: Readonly<Record<string, readonly unknown[]>> = {
  background: [false],
  service_tier: ["auto", "default", "standard_only", "flex"],
  speed: ["standard"],
  inference_geo: ["global"],
};

function requireMeterable(fields: Fields): void {
  const refused = REFUSED_FIELDS.find((name) => fields[name] != null);
  if (refused) throw refusedField(refused);
  for (const [name, usual] of Object.entries(USUAL_VALUES))
    if (fields[name] != null && !usual.includes(fields[name])) throw refusedField(name);
}

function refusedField(name: string): Refusal {
  return invalid(
    "gateway_field_refused",
    `The model gateway does not accept \`${name}\`. Leave it out.`,
  );
}

/** Tools that a client performs. A provider's own tools cost more than tokens and reach the network. */
const OWN_TOOL =
  /^(?:function|custom|local_shell|shell|apply_patch|(?:bash|text_editor|memory|computer)_\d{8})$/;

function requireOwnTools(tools: unknown): void {
  for (const tool of listOf(tools)) {
    const { type, environment } = withFoldedNames(fieldsOf(tool));
    const isOwn = type == null || (typeof type === "string" && OWN_TOOL.test(type));
    // The provider may run the shell itself.
    const isHere = environment == null || fieldsOf(environment).type === "local";
    if (isOwn && (type !== "shell" || isHere)) continue;
    throw invalid(
      "gateway_tool_refused",
      "The model gateway accepts only tools that the client performs, none that the provider runs. Leave those out.",
    );
  }
}

/**
 * Requires content to be part of the message. Files and items that are named by an id are stored with the
 * provider, together with those of everybody who uses the same key. Calls and their arguments are not
 * checked: they may hold any name.
 */
function requireOwnContent(content: unknown): void {
  for (const part of Array.isArray(content) ? content : [content]) {
    if (typeof part !== "object" || part === null) continue;
    const { type, role, id, file_id, source, file, content: inner, output } = fieldsOf(part);
    const isItem = type === "item_reference" || (type == null && role == null && id != null);
    const isFile = [file_id, fieldsOf(source).file_id, fieldsOf(file).file_id].some(
      (one) => one != null,
    );
    if (isItem || isFile)
      throw invalid(
        "gateway_content_refused",
        "The model gateway accepts no files or items stored at the provider. Send their content.",
      );
    requireOwnContent(inner);
    requireOwnContent(output);
  }
}

/** Chat completions report the usage of a stream only on request. */
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
  // The object has at least the member `stream`, so a comma follows.
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
