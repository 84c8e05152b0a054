/**
 * Connections that have not sent a whole request head yet. Nobody knows whose they are, so they are
 * bounded by address: past the bound the oldest one of the same address is cut. An honest client
 * sends its head at once and is never the oldest for long.
 */
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { addressGroup } from "#base/net/address-group.ts";

const MAX_UNFINISHED = 512;

export function limitUnfinished(server: Server, most = MAX_UNFINISHED): void {
  const byAddress = new Map<string, Set<Socket>>();
  const homes = new WeakMap<Socket, string>();

  function finish(socket: Socket): void {
    const group = homes.get(socket);
    const sockets = group === undefined ? undefined : byAddress.get(group);
    if (!sockets?.delete(socket)) return;
    if (sockets.size === 0) byAddress.delete(group as string);
  }

  server.on("connection", (socket) => {
    const group = addressGroup(socket.remoteAddress ?? "");
    const sockets = byAddress.get(group) ?? new Set();
    byAddress.set(group, sockets.add(socket));
    homes.set(socket, group);
    socket.once("close", () => finish(socket));
    if (sockets.size <= most) return;
    const [oldest] = sockets;
    oldest?.destroy();
  });
  for (const event of ["request", "upgrade"])
    server.prependListener(event, ({ socket }: { socket: Socket }) => finish(socket));
}
