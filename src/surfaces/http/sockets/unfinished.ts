/**
 * Connections without a complete request head. Their callers are unknown, so they are limited by address:
 * above the limit the oldest one of the same address is cut. An honest client sends its head at once and is
 * never the oldest for long. Idle connections after a response have a higher limit: a proxy keeps some of
 * them ready.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { addressGroup } from "#base/net/address-group.ts";

const MAX_UNFINISHED = 512;
const IDLE_FACTOR = 4;

export function limitUnfinished(server: Server, most = MAX_UNFINISHED): void {
  const silent = new ByAddress(most);
  const idle = new ByAddress(most * IDLE_FACTOR);
  const forget = (socket: Socket) => {
    silent.delete(socket);
    idle.delete(socket);
  };
  server.on("connection", (socket) => {
    silent.add(socket);
    socket.once("close", () => forget(socket));
  });
  server.prependListener("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
    forget(socket);
    response.once("close", () => {
      if (!socket.destroyed) idle.add(socket);
    });
  });
  server.prependListener("upgrade", ({ socket }: IncomingMessage) => forget(socket));
}

class ByAddress {
  readonly #most: number;
  readonly #sockets = new Map<string, Set<Socket>>();
  /** A closed connection does not report its address any more. */
  readonly #groups = new WeakMap<Socket, string>();

  constructor(most: number) {
    this.#most = most;
  }

  add(socket: Socket): void {
    const group = this.#groups.get(socket) ?? addressGroup(socket.remoteAddress ?? "");
    const sockets = this.#sockets.get(group) ?? new Set();
    this.#sockets.set(group, sockets.add(socket));
    this.#groups.set(socket, group);
    if (sockets.size <= this.#most) return;
    const [oldest] = sockets;
    oldest?.destroy();
  }

  delete(socket: Socket): void {
    const group = this.#groups.get(socket) ?? "";
    const sockets = this.#sockets.get(group);
    if (sockets?.delete(socket) && sockets.size === 0) this.#sockets.delete(group);
  }
}
