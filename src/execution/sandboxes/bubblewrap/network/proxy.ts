/**
 * The only way out of a sandbox: an HTTP proxy in the runner, on a unix socket. The proxy accepts
 * `CONNECT` and requests with an absolute address, for allowed hosts alone; it resolves the name
 * itself and dials the address it has checked. It does not look inside TLS.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type PublicAddress, type ResolveOptions, resolvePublic } from "#base/net/address-rules.ts";
import { type Destination, isAllowed, parseAuthority } from "./allow-list.ts";

export interface ProxyOptions {
  allowedHosts: readonly string[];
  resolve?: ResolveOptions;
  dial?: (to: PublicAddress & { port: number }) => Socket;
}

export interface Proxy {
  close(): Promise<void>;
}

class Denied extends Error {}

const HEAD_TIMEOUT_MS = 30_000;
const DIAL_TIMEOUT_MS = 30_000;
/** Hop-by-hop headers; and those that could name another host than the checked one. */
const NOT_FORWARDED = new Set([
  ...["connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection"],
  ...["te", "trailer", "upgrade", "host", "forwarded"],
]);

export async function startProxy(socketFile: string, options: ProxyOptions): Promise<Proxy> {
  const server = createServer({ requestTimeout: 0, headersTimeout: HEAD_TIMEOUT_MS });
  const sockets = new Set<Duplex>();
  const keep = <S extends Duplex>(socket: S): S => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    return socket;
  };
  server.on("connection", keep);
  server.on("connect", (incoming, socket, head) => {
    void tunnel(incoming, socket, head, options, keep);
  });
  server.on("request", (incoming, outgoing) => void forward(incoming, outgoing, options, keep));
  server.on("upgrade", (_incoming, socket) => socket.destroy());
  server.on("clientError", (_error, socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(socketFile, resolve);
  });
  return {
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Keep = <S extends Duplex>(socket: S) => S;

async function tunnel(
  incoming: IncomingMessage,
  client: Duplex,
  head: Buffer,
  options: ProxyOptions,
  keep: Keep,
): Promise<void> {
  try {
    const remote = keep(await reach(parseAuthority(incoming.url ?? ""), options));
    client.write("HTTP/1.1 200 Connection established\r\n\r\n");
    if (head.length > 0) remote.write(head);
    remote.pipe(client);
    client.pipe(remote);
    remote.on("close", () => client.destroy());
    client.on("close", () => remote.destroy());
  } catch (error) {
    const { status, text } = explain(error);
    client.end(
      `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
    );
  }
}

async function forward(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  options: ProxyOptions,
  keep: Keep,
): Promise<void> {
  try {
    const url = parseTarget(incoming.url ?? "");
    const socket = keep(await reach(parseAuthority(`${url.hostname}:${url.port || 80}`), options));
    const headers = Object.fromEntries(
      Object.entries(incoming.headers).filter(([name]) => !NOT_FORWARDED.has(name)),
    );
    const onward = request({
      method: incoming.method,
      path: `${url.pathname}${url.search}`,
      headers: { ...headers, host: url.host, connection: "close" },
      createConnection: () => socket,
    });
    onward.on("response", (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on("error", (error) => refuse(outgoing, error));
    outgoing.on("close", () => socket.destroy());
    incoming.pipe(onward);
  } catch (error) {
    refuse(outgoing, error);
  }
}

function parseTarget(target: string): URL {
  const url = /^http:\/\//i.test(target) && URL.canParse(target) ? new URL(target) : undefined;
  if (!url || url.username || url.password) throw new Denied("This is not a valid address.");
  return url;
}

async function reach(to: Destination | undefined, options: ProxyOptions): Promise<Socket> {
  if (!to) throw new Denied("Name only a host and a port.");
  if (!isAllowed(to, options.allowedHosts)) {
    throw new Denied(`${to.host}:${to.port} is not one of the hosts this sandbox may reach.`);
  }
  const address = await resolvePublic(to.host, options.resolve);
  const dial =
    options.dial ?? (({ address: host, family, port }) => connect({ host, family, port }));
  const socket = dial({ ...address, port: to.port });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => socket.destroy(new Error("timed out")), DIAL_TIMEOUT_MS);
    socket.once("connect", () => {
      clearTimeout(timer);
      resolve(socket);
    });
    socket.once("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
  });
}

function refuse(outgoing: ServerResponse, error: unknown): void {
  if (outgoing.headersSent) {
    outgoing.destroy();
    return;
  }
  const { code, text } = explain(error);
  outgoing.writeHead(code, { "content-type": "text/plain", connection: "close" }).end(text);
}

function explain(error: unknown): { code: number; status: string; text: string } {
  const code = error instanceof Error ? (error as { code?: string }).code : undefined;
  if (error instanceof Denied || code === "address_refused") {
    return { code: 403, status: "403 Forbidden", text: `${(error as Error).message}\n` };
  }
  return { code: 502, status: "502 Bad Gateway", text: "The host cannot be reached.\n" };
}
