import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { collect, request, responseIn } from "../fake-request.ts";
import { createSdkProvider } from "./sdk-provider.ts";

const ANSWERS = {
  anthropic: [
    { type: "message_start", message: { usage: { input_tokens: 1, output_tokens: 1 } } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hi" } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
    { type: "message_stop" },
  ],
  openai: [
    { type: "response.created", response: { id: "r", created_at: 0, model: "m" } },
    { type: "response.completed", response: { usage: { input_tokens: 1, output_tokens: 1 } } },
  ],
};

it.each(["anthropic", "openai"] as const)(
  "%s: keeps the connection, though an answer ends later than its last event",
  async (kind) => {
    let connections = 0;
    const server = createServer((asked, response) => {
      asked.resume().on("end", () => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        for (const event of ANSWERS[kind]) response.write(`data: ${JSON.stringify(event)}\n\n`);
        setTimeout(() => response.end(), 2);
      });
    });
    server.on("connection", () => connections++);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const baseUrl = `http://127.0.0.1:${port}/v1`;
    const provider = createSdkProvider({ name: "t", title: "T", kind, baseUrl });
    const requests = 10;
    for (let count = 0; count < requests; count++) {
      const ended = once(server, "request").then(([, response]) => once(response, "close"));
      responseIn(await collect(provider, request("hello")));
      await ended;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    // Now and then the next request is faster than the end of the last answer.
    expect(connections).toBeLessThan(requests / 2);
    server.closeAllConnections();
    server.close();
  },
);
