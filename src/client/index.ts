/** Front door of the typed API client. */
export { ApiError, type ErrorDetail, isRecord } from "./api-error.ts";
export type { ApiRoutes } from "./api-routes.ts";
export {
  type AnswerOf,
  type BodyOf,
  type CallOptions,
  type Client,
  type ClientRequest,
  createClient,
  type InputOf,
  type QueryOf,
  routePath,
  type Transport,
} from "./client.ts";
export { type FetchTransportOptions, fetchFile, fetchTransport } from "./fetch-transport.ts";
export { ROUTE_TABLE } from "./route-table.ts";
