/** Recognises requests for the model gateway, and reads their credentials. */
import type { IncomingHttpHeaders } from "node:http";

export function isGatewayPath(path: string): boolean {
  return path === "/api/gateway" || path.startsWith("/api/gateway/");
}

/** A model client sends its key in its provider's header; a runner's token comes there too. */
export function credentialHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const key = headers["x-api-key"];
  if (headers.authorization !== undefined || typeof key !== "string") return headers;
  return { ...headers, authorization: `Bearer ${key}` };
}
