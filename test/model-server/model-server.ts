/**
 * A model on localhost that does what the prompt says (see `script.ts`). It speaks Anthropic
 * Messages, OpenAI chat completions and OpenAI Responses, whole or streamed, under any path prefix.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { anthropicMessages } from "./anthropic-messages.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";
import { type Conversation, type Player, planReply, type Reply } from "./script.ts";
import type { EventSink, Json, WireFormat } from "./wire.ts";

export const TEST_MODEL = "test-1";

export interface RecordedRequest {
  path: string;
  headers: IncomingMessage["headers"];
  body: Json;
  conversation: Conversation;
  /** True when the client disconnected before the answer was complete. */
  wasCut: boolean;
}

export interface ModelServer {
  /** Without a trailing slash and without `/v1`. */
  url: string;
  requests: RecordedRequest[];
  /** Conversations with `PLAY name` in them follow this player from now on. */
  play(name: string, player: Player): void;
  close(): Promise<void>;
}

const FORMATS: [suffix: string, format: WireFormat][] = [
  ["/chat/completions", openaiChat],
  ["/responses", openaiResponses],
  ["/messages", anthropicMessages],
];

export async function startModelServer(port = 0): Promise<ModelServer> {
  const memory: Memory = { requests: [], failures: new Map(), players: new Map() };
  const server = createServer((request, response) => {
    answer(request, response, memory).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: memory.requests,
    play(name, player) {
      memory.players.set(name, player);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Memory {
  requests: RecordedRequest[];
  /** Number of failures for each text. */
  failures: Map<string, number>;
  players: Map<string, Player>;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { requests, failures, players }: Memory,
): Promise<void> {
  const path = new URL(request.url ?? "/", "http://localhost").pathname;
  const body = await readJson(request);
  if (path.endsWith("/models")) return sendJson(response, 200, modelList());
  if (path.endsWith("/count_tokens")) return sendJson(response, 200, { input_tokens: 10 });
  const format = FORMATS.find(([suffix]) => path.endsWith(suffix))?.[1];
  if (!format)
    return sendJson(response, 404, {
      error: { type: "not_found_error", message: `no route ${path}` },
    });
  const conversation = format.read(body);
  const record: RecordedRequest = {
    path,
    headers: request.headers,
    body,
    conversation,
    wasCut: false,
  };
  requests.push(record);
  response.on("close", () => {
    record.wasCut = !response.writableFinished;
  });
  const plan = planReply(conversation, failures, players);
  if ("failStatus" in plan) {
    const { failStatus, headers, error } = plan;
    return sendJson(response, failStatus, format.error(failStatus, error), headers);
  }
  if (plan.delayMs > 0) await sleep(plan.delayMs);
  if (plan.fault === "hang") return;
  if (plan.fault === "body") return sendJson(response, 200, format.error(500));
  if (!conversation.isStream) return sendJson(response, 200, format.whole(plan, conversation));
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  await format.stream(plan, conversation, eventSink(response, plan));
  response.end();
}

function eventSink(response: ServerResponse, { pauseMs }: Reply): EventSink {
  const isOpen = () => !response.destroyed;
  const closed = once(response, "close");
  return {
    event(data, name) {
      if (!isOpen()) return false;
      const text = typeof data === "string" ? data : JSON.stringify(data);
      response.write(`${name ? `event: ${name}\n` : ""}data: ${text}\n\n`);
      return true;
    },
    async pause() {
      if (pauseMs > 0) await sleep(pauseMs);
      return isOpen();
    },
    async drain() {
      if (isOpen() && response.writableNeedDrain) {
        await Promise.race([once(response, "drain"), closed]);
      }
      return isOpen();
    },
    raw(text) {
      if (isOpen()) response.write(text);
      return isOpen();
    },
    cut: () => {
      // When the connection breaks, the client has seen only flushed data.
      response.write(": cut\n\n", () => response.destroy());
      return closed.then(() => undefined);
    },
    gone: () => closed.then(() => undefined),
  };
}

async function readJson(request: IncomingMessage): Promise<Json> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text === "" ? {} : (JSON.parse(text) as Json);
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: Json,
  headers: Record<string, string> = {},
): void {
  const type = { "content-type": "application/json" };
  response.writeHead(status, { ...type, ...headers }).end(JSON.stringify(body));
}

function modelList(): Json {
  const model = {
    id: TEST_MODEL,
    object: "model",
    type: "model",
    display_name: TEST_MODEL,
    created: 0,
    owned_by: "test",
  };
  return {
    object: "list",
    data: [model],
    has_more: false,
    first_id: TEST_MODEL,
    last_id: TEST_MODEL,
  };
}
