/**
 * The floor of fan-out: a bare `ws` server that sends one text to every socket as fast as they take
 * it. A client's message gives the length of the text and starts the broadcast.
 *
 *   node floor-broadcast.ts PORT
 */
import { type WebSocket, WebSocketServer } from "ws";

const FULL_BYTES = 256 * 1024;
const server = new WebSocketServer({
  port: Number(process.argv[2]),
  host: "127.0.0.1",
  perMessageDeflate: false,
});
const sockets = new Set<WebSocket>();
let started = false;

server.on("connection", (socket) => {
  sockets.add(socket);
  socket.on("close", () => {
    sockets.delete(socket);
    started = false;
  });
  socket.on("message", (message) => {
    if (started) return;
    started = true;
    broadcast("x".repeat(Number(String(message))));
  });
  socket.on("error", () => socket.terminate());
});

function broadcast(text: string): void {
  if (!started) return;
  const isFull = [...sockets].some((socket) => socket.bufferedAmount > FULL_BYTES);
  if (!isFull) for (const socket of sockets) socket.send(text);
  setImmediate(() => broadcast(text));
}
