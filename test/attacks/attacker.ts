/**
 * Floods a server as one of its people could, in its own process, so that its own cost is not
 * measured with the server's. It starts at once, stops when its input closes, and then prints the
 * answers it got.
 *
 *   attacker.ts '{"kind": …, "url": …, "headers": …, "session": …, "runnerToken": …}'
 */
import { once } from "node:events";
import { Agent, get, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import type { Target } from "./start-attack.ts";

const target = JSON.parse(process.argv[2] ?? "") as Target;
const { headers } = target;
const counts: Record<string, number> = {};
let isOver = false;

/** The first count tells the test that the attack is under way. */
function count(what: string): void {
  if (Object.keys(counts).length === 0) process.stdout.write("begun\n");
  counts[what] = (counts[what] ?? 0) + 1;
}

/** Repeats an action until the end, in `lanes` parallel loops. */
async function repeat(lanes: number, act: () => Promise<unknown>): Promise<void> {
  const lane = async () => {
    while (!isOver) await act().catch(() => sleep(5));
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

const FULL = Array.from({ length: 70 }, () => "x".repeat(100));

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

function open(path: string, options: { headers?: OutgoingHttpHeaders; agent?: Agent | false }) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    get(new URL(path, target.url), { headers, ...options }, resolve).on("error", reject);
  });
}

async function ask(path: string): Promise<void> {
  const response = await open(path, { agent });
  count(String(response.statusCode));
  response.resume();
  await once(response, "end");
}

async function socketAt(path: string, own: OutgoingHttpHeaders = headers): Promise<WebSocket> {
  const socket = new WebSocket(target.url.replace("http", "ws") + path, { headers: own as never });
  socket.on("error", () => {});
  socket.on("close", (code) => count(`closed ${code}`));
  await once(socket, "open");
  return socket;
}

const subscription = JSON.stringify({
  op: "subscribe",
  topic: `session:${target.session}`,
  after: 0,
});

/** A socket of a machine that the attacker has registered. */
async function runnerSocket(): Promise<WebSocket> {
  const socket = await socketAt("/api/runners/connect", {
    authorization: `Bearer ${target.runnerToken}`,
  });
  const profile = {
    ...{ name: "own", hostname: "own", folder: "/own", profile: "own", projectDir: null },
    ...{ tags: ["own"], runtimes: ["native"], capacity: 4, version: "0" },
    models: [{ id: "lab/small", provider: "lab", usable: true, why: null, price: null }],
  };
  const register = { op: "register", id: "1", protocol: 1, bootId: "boot_1", profile, holding: [] };
  socket.send(JSON.stringify(register));
  await Promise.race([once(socket, "message"), once(socket, "close")]);
  return socket;
}

/** Sends as fast as the socket accepts, and opens a new one when it is cut. */
async function sendWithoutEnd(make: () => Promise<WebSocket>, message: string | Buffer) {
  let socket = await make();
  while (!isOver) {
    if (socket.readyState !== WebSocket.OPEN) socket = await make();
    for (let at = 0; at < 500 && socket.bufferedAmount < 8_000_000; at++) {
      socket.send(message, { binary: false });
      count("sent");
    }
    await sleep(5);
  }
  socket.terminate();
}

export const attacks = {
  requests: () => repeat(16, () => ask(`/api/sessions/${target.session}`)),

  searches: () => repeat(12, () => ask("/api/search?q=a+b+c+d+e+lo*&limit=100")),

  /** Opens event streams, reads none, and opens more. */
  async streams() {
    const held: IncomingMessage[] = [];
    await repeat(4, async () => {
      await sleep(10);
      const response = await open(`/api/sessions/${target.session}/events`, { agent: false });
      if (response.statusCode === 200) {
        held.push(response);
        return count("opened");
      }
      response.setEncoding("utf8");
      const [text] = await once(response, "data");
      count((JSON.parse(text) as { error: { code: string } }).error.code);
    });
    for (const response of held) response.destroy();
  },

  /** Asks one socket for a long log again and again, and reads it. */
  subscriptions: () => sendWithoutEnd(() => socketAt("/api/live"), subscription),

  /** The same subscription on many sockets that are never read. */
  async "stalled sockets"() {
    const sockets: WebSocket[] = [];
    for (let at = 0; at < 60; at++) {
      const socket = await socketAt("/api/live");
      socket.pause();
      for (let again = 0; again < 20; again++) socket.send(subscription);
      sockets.push(socket);
      count("stalled");
    }
    await repeat(1, () => sleep(20));
    for (const socket of sockets) socket.terminate();
  },

  async frames() {
    const text = JSON.stringify({ op: "history", id: "x", run: "run_1", fence: 1, limit: 1_000 });
    await sendWithoutEnd(runnerSocket, `${text.slice(0, -1)},"beforeSeq":null}`);
  },

  /** Frames of the largest size and depth that are accepted, and deeper ones. */
  async "nested frames"() {
    const deep = "[".repeat(3_000_000) + "]".repeat(3_000_000);
    await sendWithoutEnd(runnerSocket, Buffer.from(`{"op":"journal","items":${deep}}`));
  },

  async "full frames"() {
    const items = Array.from({ length: 500 }, () => `{"a":${JSON.stringify(FULL)}}`).join();
    const text = `{"op":"journal","id":"x","run":"run_1","fence":1,"firstOrdinal":1,"items":[${items}]}`;
    await sendWithoutEnd(runnerSocket, Buffer.from(text));
  },

  /** Text that must be cleaned before it can be stored. */
  async "escaped frames"() {
    const text = "\\u0000".repeat(600_000);
    const item = `{"type":"message","entryId":"e","kind":"text","text":"${text}"}`;
    const frame = `{"op":"journal","id":"x","run":"run_1","fence":1,"firstOrdinal":1,"items":[${item}]}`;
    await sendWithoutEnd(runnerSocket, Buffer.from(frame));
  },

  /** Writes to the journals of its own turns as fast as it can. */
  async journal() {
    const socket = await runnerSocket();
    const waiting = new Map<string, (op: string) => void>();
    socket.on("message", (data) => {
      const { op, id, assignment } = JSON.parse(String(data));
      count(op);
      if (op === "assign") void write(assignment);
      waiting.get(id)?.(op);
    });
    async function write({ run, fence }: { run: string; fence: number }): Promise<void> {
      for (let first = 1; !isOver; first += 500) {
        const items = Array.from({ length: 500 }, (_none, at) => ({
          ...{ type: "message", entryId: `e${first + at}`, kind: "text", text: "x".repeat(2_000) },
        }));
        const id = `${run} ${first}`;
        socket.send(JSON.stringify({ op: "journal", id, run, fence, firstOrdinal: first, items }));
        const op = await new Promise<string>((resolve) => waiting.set(id, resolve));
        if (op !== "journaled") return;
      }
    }
    const body = {
      type: "start_session",
      runtime: "native",
      prompt: "go",
      demands: { tags: ["own"] },
    };
    for (let at = 0; at < 4; at++)
      await fetch(new URL("/api/runs", target.url), {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    await repeat(1, () => sleep(20));
    socket.terminate();
  },

  /** Connections that never finish their request. */
  async connections() {
    const { hostname, port } = new URL(target.url);
    const sockets = new Set<Socket>();
    await repeat(8, async () => {
      if (sockets.size > 2_000) return sleep(20);
      const socket = connect(Number(port), hostname);
      socket.on("error", () => {});
      socket.once("close", () => {
        sockets.delete(socket);
        if (!isOver) count("cut");
      });
      sockets.add(socket);
      await once(socket, "connect");
      count("connected");
      socket.write("GET / HTTP/1.1\r\nX: ");
    });
    for (const socket of sockets) socket.destroy();
  },
} satisfies Record<string, () => Promise<unknown>>;

process.stdin.once("end", () => {
  isOver = true;
});
process.stdin.resume();
await attacks[target.kind]();
process.stdout.write(JSON.stringify(counts), () => process.exit());
