/**
 * A client of the HTTP API: creates a session, sends it a prompt, follows the session's log until
 * the turn is over, and prints the answer and the receipt.
 *
 *     node examples/api-client.ts "Hello, Muster"
 *
 * The address is MUSTER_SERVER (default http://127.0.0.1:4747), the key MUSTER_API_KEY, else the
 * owner's key of this machine. The session uses the `echo` runtime, which needs no model; leave
 * `runtime` out to talk to an agent.
 */
import { randomUUID } from "node:crypto";
import type { SessionEvent } from "#protocol/events.ts";
import type { Prompt, Session } from "#protocol/sessions.ts";
import { connection } from "./connection.ts";

const { url, key } = connection();

/** Sends a request. A refusal carries a stable code and a sentence that says what to do next. */
async function send(method: string, path: string, body?: object): Promise<Response> {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (response.ok) return response;
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  throw new Error(`${method} ${path}: ${error.code}: ${error.message}`);
}

async function call<T>(method: string, path: string, body?: object): Promise<T> {
  const response = await send(method, path, body);
  return (await response.json()) as T;
}

/** Follows a session's log from its first event, as server-sent events with one JSON value each. */
async function* followEvents(sessionId: string): AsyncGenerator<SessionEvent> {
  const { body } = await send("GET", `/api/sessions/${sessionId}/events?after=0`);
  let unread = "";
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const blocks = (unread + piece).split("\n\n");
    unread = blocks.pop() ?? "";
    for (const block of blocks) {
      // Blocks with an id are events. The others are deltas, pieces of text still being written.
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data !== undefined && /^id: /m.test(block)) yield JSON.parse(data) as SessionEvent;
    }
  }
}

const { session } = await call<{ session: Session }>("POST", "/api/sessions", {
  title: "Example of an API client",
  runtime: "echo",
});
console.log(`session  ${session.id}`);

const { prompt } = await call<{ prompt: Prompt }>("POST", `/api/sessions/${session.id}/prompts`, {
  content: process.argv[2] ?? "Hello, Muster",
  // Sent again with the same id, as after a lost answer, it stays one prompt.
  dispatchId: randomUUID(),
});
console.log(`prompt   ${prompt.id} is durable`);

for await (const event of followEvents(session.id)) {
  if (event.type === "message" && event.role === "assistant")
    console.log(`answer   ${event.content?.map((block) => block.text).join("")}`);
  // Leaving the loop closes the stream.
  if (event.type === "prompt_settled" && event.promptId === prompt.id) break;
}

const receipt = await call<{ prompt: Prompt }>("GET", `/api/prompts/${prompt.id}`);
console.log(`outcome  ${receipt.prompt.outcome}`);
