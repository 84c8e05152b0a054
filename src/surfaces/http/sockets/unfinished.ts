/**
 * Connections that have not sent a whole request head. Nobody knows whose they are, so they are bounded
 * by address: past the bound the oldest one of the same address is cut. An honest client sends its
 * head at once and is never the oldest for long. Those that were answered before and have asked for
 * nothing since have more room: a proxy keeps some of them ready.
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
  /** The address is not known any more once a connection is closed. */
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
