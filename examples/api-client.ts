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
import { createClient, fetchTransport, ROUTE_TABLE, routePath } from "#client/index.ts";
import type { SessionEvent } from "#protocol/events.ts";
import { connection } from "./connection.ts";

const { url, key } = connection();
/** Every route of the API as a function; a refusal is thrown as an `ApiError` with its stable code. */
const api = createClient(fetchTransport({ baseUrl: url, key }));

/** Follows a session's log from its first event, as server-sent events with one JSON value each. */
async function* followEvents(id: string): AsyncGenerator<SessionEvent> {
  const path = routePath(ROUTE_TABLE.sessions.events, { id, query: { after: 0 } });
  const { body } = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
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

const { session } = await api.sessions.create({
  body: { title: "Example of an API client", runtime: "echo" },
});
console.log(`session  ${session.id}`);

const { prompt } = await api.prompts.create({
  id: session.id,
  // Sent again with the same dispatch id, as after a lost answer, it stays one prompt.
  body: { content: process.argv[2] ?? "Hello, Muster", dispatchId: randomUUID() },
});
console.log(`prompt   ${prompt.id} is durable`);

for await (const event of followEvents(session.id)) {
  if (event.type === "message" && event.role === "assistant")
    console.log(`answer   ${event.content?.map((block) => block.text).join("")}`);
  // Leaving the loop closes the stream.
  if (event.type === "prompt_settled" && event.promptId === prompt.id) break;
}

const receipt = await api.prompts.get({ id: prompt.id });
console.log(`outcome  ${receipt.prompt.outcome}`);
