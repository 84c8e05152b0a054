import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { Refusal } from "#base/refusal.ts";
import type { ServerFrame } from "#protocol/frames.ts";
import { connectUrl, createWebSocketTransport } from "./websocket-transport.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

interface Peer {
  url: string;
  sockets: WebSocket[];
  requests: IncomingMessage[];
}

async function listen(
  options: { autoPong?: boolean; refuse?: { status: number; body: string } } = {},
): Promise<Peer> {
  const server = createServer();
  servers.push(server);
  const peer: Peer = { url: "", sockets: [], requests: [] };
  const upgrades = new WebSocketServer({ noServer: true, autoPong: options.autoPong ?? true });
  server.on("upgrade", (request, socket, head) => {
    peer.requests.push(request);
    if (options.refuse) {
      const { status, body } = options.refuse;
      socket.end(
        `HTTP/1.1 ${status} No\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
      );
      return;
    }
    upgrades.handleUpgrade(request, socket, head, (accepted) => peer.sockets.push(accepted));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  peer.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return peer;
}

function listener() {
  const frames: ServerFrame[] = [];
  const closed: string[] = [];
  const events = {
    frame: (frame: ServerFrame) => frames.push(frame),
    closed: (reason: string) => closed.push(reason),
  };
  return { frames, closed, events };
}

describe("the WebSocket transport", () => {
  it.each([
    ["http://host:4747", "ws://host:4747/api/runners/connect"],
    ["https://host/muster/", "wss://host/muster/api/runners/connect"],
    ["ws://host", "ws://host/api/runners/connect"],
  ])("turns %s into %s", (given, url) => {
    expect(connectUrl(given)).toBe(url);
  });

  it("refuses what is no address", () => {
    expect(() => connectUrl("ftp://host")).toThrow(Refusal);
    expect(() => connectUrl("nowhere")).toThrow(/http:\/\/host:port/);
  });

  it("carries frames both ways with the runner's token", async () => {
    const peer = await listen();
    const { frames, closed, events } = listener();
    const connection = await createWebSocketTransport({ serverUrl: peer.url, token: "t0" }).open(
      events,
    );
    expect(peer.requests[0]).toMatchObject({
      url: "/api/runners/connect",
      headers: { authorization: "Bearer t0" },
    });
    const [socket] = peer.sockets as [WebSocket];
    const received: string[] = [];
    socket.on("message", (message) => received.push(String(message)));
    connection.send({ op: "drain", id: "1" });
    socket.send('{"op":"done","id":"1"}');
    await expect
      .poll(() => [received, frames])
      .toEqual([['{"op":"drain","id":"1"}'], [{ op: "done", id: "1" }]]);
    connection.close();
    await expect.poll(() => closed.length).toBe(1);
    connection.send({ op: "drain", id: "2" });
  });

  it("ends the connection when the peer sends what is not JSON", async () => {
    const peer = await listen();
    const { frames, closed, events } = listener();
    await createWebSocketTransport({ serverUrl: peer.url, token: "t" }).open(events);
    peer.sockets[0]?.send("hello");
    await expect.poll(() => closed.length).toBe(1);
    expect(frames).toEqual([]);
  });

  it("proves with every pong how old what arrives can be, and leaves a peer that answers none", async () => {
    const peer = await listen();
    const answering = listener();
    const transport = createWebSocketTransport({
      serverUrl: peer.url,
      token: "t",
      pingEveryMs: 20,
    });
    const connection = await transport.open(answering.events);
    const openedAt = connection.provenAt?.() as number;
    await expect.poll(() => connection.provenAt?.()).toBeGreaterThan(openedAt);
    expect(answering.closed).toEqual([]);
    connection.close();

    const silent = await listen({ autoPong: false });
    const { closed, events } = listener();
    await createWebSocketTransport({ serverUrl: silent.url, token: "t", pingEveryMs: 20 }).open(
      events,
    );
    await expect.poll(() => closed.length).toBe(1);
  });

  it.each([
    [401, { code: "invalid_token", message: "Make a new one." }, "invalid_token"],
    [409, { code: "duplicate_runner", message: "Already here." }, "duplicate_runner"],
    [403, null, "runner_refused"],
  ])("reports %i as a refusal that lasts", async (status, error, code) => {
    const peer = await listen({ refuse: { status, body: error ? JSON.stringify({ error }) : "" } });
    const transport = createWebSocketTransport({ serverUrl: peer.url, token: "t" });
    const opening = transport.open(listener().events);
    await expect(opening).rejects.toBeInstanceOf(Refusal);
    await expect(opening).rejects.toMatchObject({ code });
  });

  it.each([502, 503, 404])("reports %i as something that may pass", async (status) => {
    const peer = await listen({ refuse: { status, body: "" } });
    const opening = createWebSocketTransport({ serverUrl: peer.url, token: "t" }).open(
      listener().events,
    );
    await expect(opening).rejects.not.toBeInstanceOf(Refusal);
  });

  it("reports a server that is not there as something that may pass", async () => {
    const opening = createWebSocketTransport({ serverUrl: "http://127.0.0.1:1", token: "t" }).open(
      listener().events,
    );
    await expect(opening).rejects.not.toBeInstanceOf(Refusal);
  });
});
