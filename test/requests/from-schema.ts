/** Values for a JSON schema: mostly valid, sometimes hostile in one place. */
import type { Random } from "#test/random.ts";
import { HOSTILE_NUMBERS, HOSTILE_STRINGS } from "./hostile-values.ts";

export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  items?: Schema | boolean;
  prefixItems?: Schema[];
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
}

export interface SchemaContext {
  random: Random;
  components: Readonly<Record<string, Schema>>;
  /** Probability that one value is hostile. */
  odds: number;
  /** Probability that an optional field is present. */
  optional?: number;
  /** An existing id or name, for a field of this name. */
  known(field: string): string | undefined;
}

const WORDS = ["alpha", "beta", "echo hello", "say hi", "src/index.ts", "A title", "ls -la"];
const MAX_DEPTH = 6;
const OPTIONAL = 0.35;

/** Stands for a number that JSON can express and JavaScript reads as Infinity. */
export const BEYOND_NUMBERS = "@@1e999@@";

export function valueFor(
  context: SchemaContext,
  schema: Schema | boolean | undefined,
  field = "",
  depth = 0,
): unknown {
  const { random } = context;
  if (random.chance(context.odds)) return hostileValue(context, depth);
  if (schema === undefined || typeof schema === "boolean" || depth > MAX_DEPTH)
    return random.pick<unknown>([random.pick(WORDS), 1, true, null, { a: "b" }, ["x"]]);
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split("/").at(-1) ?? "";
    return valueFor(context, context.components[name], field, depth + 1);
  }
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return random.pick(schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return valueFor(context, random.pick(choices), field, depth);
  if (schema.allOf)
    return Object.assign({}, ...schema.allOf.map((one) => valueFor(context, one, field, depth)));
  const type = Array.isArray(schema.type) ? random.pick(schema.type) : schema.type;
  return typedValue(context, schema, type, field, depth);
}

function typedValue(
  context: SchemaContext,
  schema: Schema,
  type: string | undefined,
  field: string,
  depth: number,
): unknown {
  const { random } = context;
  switch (type) {
    case "object":
      return objectFor(context, schema, depth);
    case "array": {
      const count = random.skewed(schema.minItems ?? 0, Math.min(schema.maxItems ?? 3, 5));
      return Array.from({ length: count }, () =>
        valueFor(context, itemsOf(schema), field, depth + 1),
      );
    }
    case "integer":
    case "number":
      return numberFor(context, schema);
    case "boolean":
      return random.chance(0.5);
    case "null":
      return null;
    case "string":
      return stringFor(context, schema, field);
    default:
      return valueFor(context, true, field, depth + 1);
  }
}

function itemsOf({ items, prefixItems }: Schema): Schema | boolean | undefined {
  return prefixItems?.[0] ?? items;
}

function objectFor(context: SchemaContext, schema: Schema, depth: number): object {
  const { random, optional = OPTIONAL } = context;
  const made: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const isRequired = schema.required?.includes(name) ?? false;
    if (random.chance(isRequired ? Math.max(optional, 0.97) : optional))
      made[name] = valueFor(context, property, name, depth + 1);
  }
  if (typeof schema.additionalProperties === "object" || !schema.properties) {
    const extra = schema.additionalProperties;
    const key = random.chance(context.odds) ? random.pick(HOSTILE_STRINGS) : "key";
    made[key] = valueFor(context, extra === false ? true : extra, key, depth + 1);
  }
  if (random.chance(context.odds / 4)) made[random.pick(HOSTILE_STRINGS)] = 1;
  return made;
}

function numberFor({ random }: SchemaContext, { minimum = 0, maximum = 1_000 }: Schema): number {
  const low = Math.max(minimum, -1_000);
  const near = Math.min(maximum, low + 1_000);
  return random.chance(0.1) ? random.pick([minimum, maximum]) : random.between(low, near);
}

function stringFor(context: SchemaContext, { format, maxLength }: Schema, field: string): string {
  const { random } = context;
  const known = random.chance(0.8) ? context.known(field) : undefined;
  if (known !== undefined) return known;
  if (format === "date-time") return new Date(1.7e12 + random.between(0, 1e11)).toISOString();
  if (format === "date") return "2024-05-01";
  if (format === "email") return `p${random.between(0, 1e6)}@example.org`;
  if (format === "uri") return random.pick(["https://example.invalid/a/b", "http://127.0.0.1:1/x"]);
  const text = random.chance(0.5) ? random.pick(WORDS) : `n${random.between(0, 1_000)}`;
  return maxLength !== undefined && random.chance(0.02) ? "x".repeat(maxLength) : text;
}

function hostileValue({ random }: SchemaContext, depth: number): unknown {
  const kind = random.weighted({ string: 12, number: 4, other: 2, nested: 2, beyond: 1 });
  if (kind === "string") return random.pick(HOSTILE_STRINGS);
  if (kind === "number") return random.pick(HOSTILE_NUMBERS);
  if (kind === "beyond") return BEYOND_NUMBERS;
  if (kind === "other" || depth > 2) return random.pick<unknown>([null, true, [], {}, [[]], ""]);
  const text = random.pick(HOSTILE_STRINGS);
  return random.chance(0.5) ? { [text]: text } : [text, { a: [text] }];
}
