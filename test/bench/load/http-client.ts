/** A lean client of both servers: JSON over kept connections, and server-sent events. */
import { Agent, type ClientRequest, request } from "node:http";
import type { Target } from "../contenders.ts";

export interface HttpClient {
  post(path: string, body: string): Promise<string>;
  get(path: string): Promise<string>;
  /** Calls back for each event with its type; resolves when the stream is open. */
  follow(path: string, onEvent: (type: string, block: string) => void): Promise<() => void>;
  close(): void;
}

export function createHttpClient({ port, key }: Target, connections: number): HttpClient {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const base = { port, host: "127.0.0.1" };

  function ask(method: string, path: string, body?: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { "Content-Length": Buffer.byteLength(body) };
      const asked = request(
        { ...base, agent, method, path, headers: { ...headers, ...length } },
        (response) => {
          let text = "";
          response.setEncoding("utf8");
          response.on("data", (chunk: string) => {
            text += chunk;
          });
          response.on("end", () => {
            if ((response.statusCode ?? 500) < 300) resolve(text);
            else reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`));
          });
        },
      );
      asked.on("error", reject);
      asked.end(body);
    });
  }

  return {
    post: (path, body) => ask("POST", path, body),
    get: (path) => ask("GET", path),
    follow(path, onEvent) {
      return new Promise((resolve, reject) => {
        const asked: ClientRequest = request(
          { ...base, agent: false, path, headers },
          (response) => {
            response.setEncoding("utf8");
            const read = eventReader(onEvent);
            response.on("data", read);
            response.on("error", () => {});
            resolve(() => asked.destroy());
          },
        );
        asked.on("error", reject);
        asked.end();
      });
    },
    close: () => agent.destroy(),
  };
}

function eventReader(onEvent: (type: string, block: string) => void): (chunk: string) => void {
  let rest = "";
  return (chunk) => {
    const text = rest + chunk;
    let from = 0;
    for (;;) {
      const end = text.indexOf("\n\n", from);
      if (end < 0) break;
      const block = text.slice(from, end);
      from = end + 2;
      const at = block.indexOf("event: ");
      if (at < 0) continue;
      const lineEnd = block.indexOf("\n", at);
      onEvent(block.slice(at + "event: ".length, lineEnd), block);
    }
    rest = text.slice(from);
  };
}
