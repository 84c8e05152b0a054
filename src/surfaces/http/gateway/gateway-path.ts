/** Which requests are for the model gateway, and how their callers say who they are. */
import type { IncomingHttpHeaders } from "node:http";

export function isGatewayPath(path: string): boolean {
  return path === "/api/gateway" || path.startsWith("/api/gateway/");
}

/** A model client puts its key where its provider wants it; a runner's token comes there too. */
export function credentialHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const key = headers["x-api-key"];
  if (headers.authorization !== undefined || typeof key !== "string") return headers;
  return { ...headers, authorization: `Bearer ${key}` };
}
