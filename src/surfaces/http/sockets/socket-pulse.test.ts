import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { SocketPulse } from "./socket-pulse.ts";

const PING_EVERY_MS = 100;

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** `answers`: the peer's program still runs; a stopped one answers no ping. */
async function open(answers: boolean) {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  const accepted = once(server, "connection") as Promise<[WebSocket]>;
  const { port } = server.address() as AddressInfo;
  const peer = new WebSocket(`ws://127.0.0.1:${port}`, { autoPong: answers });
  const [socket] = await accepted;
  ends.push(() => {
    peer.terminate();
    server.close();
  });
  const seen = { dead: 0, heardAgain: 0 };
  const pulse = new SocketPulse(socket, {
    dead: () => {
      seen.dead += 1;
    },
    heardAgain: () => {
      seen.heardAgain += 1;
    },
    pingEveryMs: PING_EVERY_MS,
  });
  return { socket, peer, pulse, seen };
}

describe("a socket's pulse", () => {
  it("goes on while the peer answers", async () => {
    const { socket, pulse, seen } = await open(true);
    for (let n = 0; n < 10; n++) await once(socket, "pong");
    expect(pulse.isQuiet).toBe(false);
    expect(seen.dead).toBe(0);
    expect(socket.readyState).toBe(socket.OPEN);
  });

  it("ends the connection of a peer that closes nothing and answers nothing", async () => {
    const { socket, pulse, seen } = await open(false);
    await once(socket, "close");
    expect(seen.dead).toBe(1);
    expect(pulse.isQuiet).toBe(true);
  });

  it("reports when a quiet peer responds again", async () => {
    const { socket, peer, pulse, seen } = await open(false);
    await expect.poll(() => pulse.isQuiet, { interval: 5 }).toBe(true);
    peer.send("hello");
    await once(socket, "message");
    expect(pulse.isQuiet).toBe(false);
    expect(seen.heardAgain).toBe(1);
  });
});
