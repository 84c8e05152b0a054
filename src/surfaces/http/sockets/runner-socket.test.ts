import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { silentLog } from "#base/log.ts";
import type { Dispatcher } from "#engine/runs/index.ts";
import { serveRunner } from "./runner-socket.ts";

const ends: (() => void)[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const end of ends.splice(0)) end();
});

const machine = {
  kind: "runner",
  orgId: "org_1",
  credentialId: "crd_1",
  scope: "org",
  tags: [],
  name: "r",
} as const;

/** Opens a runner's socket, with a dispatcher that only records. */
async function open(registered: boolean) {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  const accepted = once(server, "connection") as Promise<[WebSocket]>;
  const peer = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const [[socket]] = await Promise.all([accepted, once(peer, "open")]);
  ends.push(() => {
    peer.terminate();
    server.close();
  });
  const seen = { disconnected: 0 };
  const connection = {
    ...{ runnerId: "rnr_1", closed: false, runner: registered ? {} : undefined },
    receive: async () => {},
  };
  const dispatcher = {
    connect: () => connection,
    poke: () => {},
    disconnect: async () => {
      seen.disconnected += 1;
    },
  };
  serveRunner(socket, machine, dispatcher as unknown as Dispatcher, {
    stillGood: async () => true,
    rate: { owes: () => 0, owesItself: () => 0, spend: () => {} },
    log: silentLog,
  });
  return { peer, socket, seen };
}

describe("a runner's socket", () => {
  it("is closed when nobody registers on it", async () => {
    const { peer, socket, seen } = await open(false);
    vi.advanceTimersByTime(10_000);
    const [[code, reason]] = await Promise.all([once(peer, "close"), once(socket, "close")]);
    expect([code, String(reason)]).toEqual([1008, "register first"]);
    expect(seen.disconnected).toBe(1);
  });

  it("stays open for a runner that did", async () => {
    const { peer, socket } = await open(true);
    vi.advanceTimersByTime(60_000);
    peer.ping();
    await once(peer, "pong");
    expect(socket.readyState).toBe(socket.OPEN);
  });

  it("is closed by a frame that is nested very deep, before it is parsed", async () => {
    const { peer } = await open(true);
    const deep = "[".repeat(1_000_000) + "]".repeat(1_000_000);
    peer.send(`{"op":"journal","items":${deep}}`);
    const [code] = await once(peer, "close");
    expect(code).toBe(1009);
  });
});
