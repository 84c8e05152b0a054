/**
 * Frames with one wrong value each, derived from the schema of runner frames: an example of every
 * kind, and a copy of it for each field and each wrong value.
 */
import * as z from "zod";
import { runnerFrameSchema } from "#protocol/frames.ts";

interface Schema {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  oneOf?: Schema[];
  anyOf?: Schema[];
  pattern?: string;
  minimum?: number;
  $ref?: string;
}

export type Frame = Record<string, unknown> & { op: string };

const document = z.toJSONSchema(runnerFrameSchema, {
  io: "input",
  unrepresentable: "any",
}) as Schema & { $defs?: Record<string, Schema> };

function resolved(schema: Schema): Schema {
  const name = schema.$ref?.split("/").at(-1);
  return name === undefined ? schema : (document.$defs?.[name] ?? {});
}

/** A valid value. `alternative` picks one of several kinds of list items. */
function exampleOf(given: Schema, alternative = 0): unknown {
  const schema = resolved(given);
  const kinds = schema.oneOf ?? schema.anyOf;
  if (kinds) return exampleOf(kinds[Math.min(alternative, kinds.length - 1)] ?? {});
  if ("const" in schema) return schema.const;
  if (schema.enum) return schema.enum[0];
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, field]) => [name, exampleOf(field)]),
      );
    case "array":
      return [exampleOf(schema.items ?? {}, alternative)];
    case "string":
      return stringFor(schema.pattern);
    case "number":
    case "integer":
      return Math.max(1, schema.minimum ?? 1);
    case "boolean":
      return false;
    default:
      return { anything: 1 };
  }
}

function stringFor(pattern: string | undefined): string {
  const tries = ["x", "text/plain", "0".repeat(64), "a_b"];
  return tries.find((text) => pattern === undefined || new RegExp(pattern).test(text)) ?? "x";
}

/** Number of kinds of items in the lists of a frame. */
function alternativesOf(schema: Schema): number {
  const lists = Object.values(schema.properties ?? {}).map((field) => {
    const { items } = resolved(field);
    return items ? (resolved(items).oneOf?.length ?? 1) : (resolved(field).oneOf?.length ?? 1);
  });
  return Math.max(1, ...lists);
}

/**
 * Valid frames: every kind, and each kind of item in it. All but the first of a kind have only
 * required fields.
 */
export function rightFrames(): Frame[] {
  return (document.oneOf ?? []).flatMap((schema) =>
    Array.from({ length: alternativesOf(schema) }, (_none, alternative) => {
      const fields = Object.entries(schema.properties ?? {})
        .filter(([name]) => alternative === 0 || schema.required?.includes(name))
        .map(([name, field]) => [name, exampleOf(field, alternative)]);
      return Object.fromEntries(fields) as Frame;
    }),
  );
}

const WRONG: readonly unknown[] = [
  undefined,
  null,
  -1,
  1.5,
  1e300,
  Number.MAX_SAFE_INTEGER,
  "",
  "x".repeat(20_000),
  "\u0000\ud800",
  "'; drop table runs; --",
  "__proto__",
  [],
  Array.from({ length: 2_000 }, () => "x"),
  { constructor: { prototype: 1 }, toString: null },
];

/** Copies of a frame with one field replaced by each wrong value and by each of `foreign`. */
export function* wrongCopies(frame: Frame, foreign: readonly unknown[]): Generator<Frame> {
  for (const path of pathsOf(frame)) {
    for (const value of [...WRONG, ...foreign]) {
      const copy = structuredClone(frame);
      replaceAt(copy, path, value);
      // The kind stays: a frame without one is another test's subject.
      if (path.length === 1 && path[0] === "op") continue;
      yield copy;
    }
  }
}

function pathsOf(value: unknown, before: readonly string[] = []): string[][] {
  if (typeof value !== "object" || value === null || before.length > 4) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    [...before, name],
    ...pathsOf(inner, [...before, name]),
  ]);
}

function replaceAt(target: Frame, path: readonly string[], value: unknown): void {
  let at = target as Record<string, unknown>;
  for (const name of path.slice(0, -1)) at = at[name] as Record<string, unknown>;
  const last = path.at(-1) as string;
  if (value === undefined) delete at[last];
  else at[last] = value;
}
