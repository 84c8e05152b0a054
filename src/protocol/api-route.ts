/**
 * One HTTP route as data. A `contract.ts` declares it once; the server serves it, the typed client of
 * pages, commands and other programs calls it, and the API document describes it.
 */
import type * as z from "zod";

export type HttpMethod = "get" | "post" | "put" | "patch" | "delete";

/** Stands for a query or a body that a route does not take. */
export type NoInput = z.ZodNever;

export interface ApiRoute<
  Method extends HttpMethod = HttpMethod,
  Path extends string = string,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
> {
  readonly method: Method;
  /** Begins with `/api/`; parameters are written `{name}`. */
  readonly path: Path;
  /** Further paths with the same parameters, served and not documented. */
  readonly aliases?: readonly string[];
  /** One sentence for the API document. */
  readonly summary: string;
  readonly tag: string;
  readonly query?: Query;
  readonly body?: Body;
  readonly response: Answer;
  /** Status of a success; 200 if left out. */
  readonly status?: 200 | 201 | 202;
  /** Further statuses of success, such as 200 when the thing was there already. */
  readonly otherStatuses?: readonly number[];
  /** The same `Idempotency-Key` makes one thing. */
  readonly takesIdempotencyKey?: true;
  /** Media type of an answer that is a file or a stream. */
  readonly mediaType?: string;
}

/** Declares a route and keeps its literal method and path, and the types of its schemas. */
export function apiRoute<
  const Method extends HttpMethod,
  const Path extends string,
  Answer extends z.ZodType,
  Query extends z.ZodType = NoInput,
  Body extends z.ZodType = NoInput,
>(route: ApiRoute<Method, Path, Query, Body, Answer>): ApiRoute<Method, Path, Query, Body, Answer> {
  return route;
}

/** Parameters of a path: `/api/tasks/{id}` has `{id: string}`. */
export type PathParams<Path extends string> = string extends Path
  ? Readonly<Record<string, string>>
  : { readonly [Name in ParamName<Path>]: string };

type ParamName<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamName<Rest>
  : never;

/** A path was to be filled with a parameter that is missing or empty. */
export class MissingParameter extends Error {}

/** Fills the parameters into a path. */
export function fillPath(path: string, params: Readonly<Record<string, unknown>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    const value = params[name];
    if (typeof value !== "string" || value === "")
      throw new MissingParameter(`The path ${path} needs the parameter ${name}.`);
    return encodeURIComponent(value);
  });
}
