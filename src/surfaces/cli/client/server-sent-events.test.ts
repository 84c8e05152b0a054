import fc from "fast-check";
import { expect, it } from "vitest";
import { readServerSentEvents, type ServerSentEvent } from "./server-sent-events.ts";

const STREAM =
  ': comment\r\n\r\nid: 1\nevent: message\ndata: {"text":"grüß 🌍"}\n\nevent: delta\rdata:a\rdata: b\r\rid: 2\r\ndata\r\n\r\ndata: never finished';

const EXPECTED: ServerSentEvent[] = [
  { id: "1", event: "message", data: '{"text":"grüß 🌍"}' },
  { id: null, event: "delta", data: "a\nb" },
  { id: "2", event: "message", data: "" },
];

async function read(chunks: Uint8Array[]): Promise<ServerSentEvent[]> {
  async function* body() {
    yield* chunks;
  }
  const events: ServerSentEvent[] = [];
  for await (const event of readServerSentEvents(body())) events.push(event);
  return events;
}

it("reads the same events wherever the stream is cut", async () => {
  const bytes = new TextEncoder().encode(STREAM);
  const cuts = fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(cuts, async (places) => {
      const edges = [0, ...places.sort((a, b) => a - b), bytes.length];
      const chunks = edges.slice(1).map((end, index) => bytes.slice(edges[index], end));
      expect(await read(chunks)).toEqual(EXPECTED);
    }),
  );
});

it("gives up on an event that never ends", async () => {
  const megabyte = new TextEncoder().encode("x".repeat(1024 * 1024));
  const endless = [new TextEncoder().encode("data: "), ...Array(65).fill(megabyte)];
  await expect(read(endless)).rejects.toThrow("max buffer size");
});
