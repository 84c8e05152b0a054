/**
 * The typed client of the API. Its methods, paths and types come from the contracts:
 * `client.tasks.list({ id, query: { status: "pending" } })`. It validates nothing (the server does)
 * and therefore carries no schema into a browser.
 */
import type * as z from "zod";
import { type ApiRoute, fillPath, type NoInput, type PathParams } from "#protocol/api-route.ts";
import type { ApiRoutes } from "./api-routes.ts";
import { ROUTE_TABLE } from "./route-table.ts";

export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** Names this request, so that repeating it makes nothing new. */
  idempotencyKey?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
}

/** A request as a transport sends it; `path` is filled and carries its query. */
export interface ClientRequest extends CallOptions {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  body: unknown;
}

/** Sends a request and resolves with the parsed answer; throws what its caller understands. */
export type Transport = (request: ClientRequest) => Promise<unknown>;

/** True for an input whose fields can all be left out, and for one that has none. */
type IsOptional<Input> = object extends Input
  ? true
  : Input extends Readonly<Record<string, never>>
    ? true
    : false;

type Part<Name extends string, Schema extends z.ZodType> = [Schema] extends [NoInput]
  ? object
  : IsOptional<z.input<Schema>> extends true
    ? { readonly [Key in Name]?: z.input<Schema> }
    : { readonly [Key in Name]: z.input<Schema> };

/** Path parameters, `query` and `body` of a route, side by side. */
export type InputOf<R extends ApiRoute> =
  R extends ApiRoute<infer _Method, infer Path, infer Query, infer Body>
    ? PathParams<Path> & Part<"query", Query> & Part<"body", Body>
    : never;

export type QueryOf<R extends ApiRoute> =
  R extends ApiRoute<infer _Method, infer _Path, infer Query> ? z.input<Query> : never;

export type BodyOf<R extends ApiRoute> =
  R extends ApiRoute<infer _Method, infer _Path, infer _Query, infer Body> ? z.input<Body> : never;

export type AnswerOf<R extends ApiRoute> = z.output<R["response"]>;

export type Call<R extends ApiRoute> =
  object extends InputOf<R>
    ? (input?: InputOf<R>, options?: CallOptions) => Promise<AnswerOf<R>>
    : (input: InputOf<R>, options?: CallOptions) => Promise<AnswerOf<R>>;

export type Client = {
  readonly [Group in keyof ApiRoutes]: {
    readonly [Name in keyof ApiRoutes[Group]]: ApiRoutes[Group][Name] extends ApiRoute
      ? Call<ApiRoutes[Group][Name]>
      : never;
  };
};

type LooseInput = Readonly<Record<string, unknown>>;

export function createClient(send: Transport): Client {
  const call = (address: string) => (input?: LooseInput, options?: CallOptions) => {
    const { method, path } = readAddress(address);
    const request = { method, path: pathWithQuery(path, input), body: bodyOf(method, input) };
    return send({ ...options, ...request });
  };
  const groups = Object.entries(ROUTE_TABLE).map(([group, routes]) => [
    group,
    Object.fromEntries(Object.entries(routes).map(([name, address]) => [name, call(address)])),
  ]);
  return Object.fromEntries(groups) as Client;
}

/** Path of a route for what is no plain call: an event stream, a socket, a file. */
export function routePath<const Address extends string>(
  address: Address,
  input: PathParams<NoInfer<Address>> & { readonly query?: LooseInput },
): string {
  return pathWithQuery(readAddress(address).path, input);
}

function readAddress(address: string): { method: ClientRequest["method"]; path: string } {
  const space = address.indexOf(" ");
  return {
    method: address.slice(0, space) as ClientRequest["method"],
    path: address.slice(space + 1),
  };
}

function pathWithQuery(path: string, input: LooseInput = {}): string {
  return `${fillPath(path, input)}${queryText(input.query)}`;
}

/** Routes that change something get a body, even an empty one. */
function bodyOf(method: ClientRequest["method"], input: LooseInput = {}): unknown {
  if (input.body !== undefined) return input.body;
  return method === "POST" || method === "PUT" || method === "PATCH" ? {} : undefined;
}

/** Leaves out fields that are undefined or empty. */
function queryText(query: unknown): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== "") params.set(name, String(value));
  }
  return params.size === 0 ? "" : `?${params}`;
}
