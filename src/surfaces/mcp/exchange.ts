/** One request and its response: a server and a transport are created for it, and end with it. */
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type { Context } from "hono";
import type { Log } from "#base/log.ts";
import type { Announcer, Kernel } from "#engine/index.ts";
import type { AppEnv } from "#surfaces/http/app.ts";
import type { Caller, Callers } from "#surfaces/http/guards/callers.ts";
import type { StreamSlots } from "#surfaces/http/sockets/stream-slots.ts";
import { createMcpServer } from "./mcp-server.ts";
import { clientIdOf, type Messages } from "./messages.ts";
import { mayRepeat, primingEvent } from "./resume.ts";
import { messageKey, type Toolbox } from "./toolbox.ts";

export interface McpRouteOptions {
  callers: Callers;
  streams: StreamSlots;
  ids: Kernel["engine"]["ids"];
  announcer: Announcer;
  log: Log;
  version: string;
  /** Undefined: this caller has no tools. */
  toolboxFor(caller: Caller): Toolbox | undefined;
}

interface Exchange extends McpRouteOptions {
  caller: Caller;
  headers: { authorization?: string };
  toolbox: Toolbox;
}

export async function exchange(
  c: Context<AppEnv>,
  messages: Messages,
  { caller, callers, streams, headers, toolbox, announcer, ids, log, version }: Exchange,
): Promise<Response> {
  // Calls may wait for minutes, each with its own server and stream.
  const leave = messages.hasCalls ? streams.enter("wait", caller) : () => {};
  c.env.outgoing.once("close", leave);
  if (c.env.outgoing.destroyed) leave();
  const clientId = clientIdOf(c.req.header("mcp-session-id"));
  const { principal, credentialId } = caller;
  // A later attempt of a run is another agent, which numbers its requests from the start.
  const fence = principal.kind === "session" ? principal.run?.fence : undefined;
  const who = `${credentialId} ${fence}`;
  const topic = (requestId: string | number) => messageKey(who, clientId, "cancel", requestId);
  for (const requestId of messages.cancelled) {
    const key = topic(requestId);
    // Another server may be handling the request.
    if (key) announcer.hint(key, "cancelled", key);
  }
  const server = createMcpServer({
    toolbox,
    version,
    log,
    callIdOf: (requestId, call) =>
      messageKey(who, clientId, "call", requestId, call.name, call.arguments),
    onCancelled(requestId, cancelled) {
      const key = topic(requestId);
      // A single request ends without a response; others in its batch still get theirs.
      const end = messages.isBatch ? cancelled : () => void server.close();
      return key ? announcer.onHint(key, end) : () => {};
    },
    isStillGood: () => callers.isStillGood(headers, caller),
  });
  const transport = new WebStandardStreamableHTTPServerTransport({
    // Calls may take long, so they are streamed, which keeps the connection alive.
    enableJsonResponse: !messages.hasCalls,
  });
  await server.connect(transport);
  // Everything of this request ends with its response, or when the client leaves.
  c.env.outgoing.once("close", () => void server.close());
  if (c.env.outgoing.destroyed) await server.close();
  const response = await transport.handleRequest(postOf(c), { parsedBody: messages.body });
  if (messages.isInitialize && response.ok) response.headers.set("Mcp-Session-Id", ids.mint("mcp"));
  const isRepeatable = mayRepeat(messages, clientId, toolbox);
  const spoken = c.req.header("mcp-protocol-version");
  return primed(response, primingEvent(messages.body, { version: spoken, isRepeatable }));
}

/** The transport sees every request as a POST: one that resumes a stream has its body in its event id. */
function postOf({ req }: Context<AppEnv>): Request {
  if (req.method === "POST") return req.raw;
  const headers = new Headers(req.raw.headers);
  headers.set("content-type", "application/json");
  headers.set("accept", "application/json, text/event-stream");
  headers.delete("last-event-id");
  return new Request(req.raw.url, { method: "POST", headers });
}

/** Puts the priming event in front of the stream. */
function primed(response: Response, event: string | undefined): Response {
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  if (event === undefined || !isStream || !response.body) return response;
  const first = new TransformStream<Uint8Array, Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(event)),
  });
  const { status, headers } = response;
  return new Response(response.body.pipeThrough(first), { status, headers });
}
