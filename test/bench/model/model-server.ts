/**
 * The bench's model, in a process of its own: its cost is not measured, and it must never be the
 * bottleneck. It implements as much of Anthropic's Messages as a streaming client needs, directly
 * on a socket. The model's name selects its behaviour; see `MODELS`.
 */
import { createServer, type Socket } from "node:net";
import { callEvents, MODELS, TOOL_STEPS, textEvents } from "./answers.ts";

const HEAD_END = "\r\n\r\n";
const EMPTY = Buffer.alloc(0);
const LENGTH = /content-length: (\d+)/i;
/** The name is among the first fields of a request. */
const NAME = /"model":\s*"([^"]+)"/;
const NAME_WITHIN = 400;
const RESULT = '"type":"tool_result"';
const SLOW_MS = 1_000;

const textAnswer = respond(textEvents());
let held: (() => void)[] = [];
let steps: number[] = [];
let wakes: number[] = [];
let askedAt = 0;
/** When the newest child was done; undefined once its parent has asked. */
let childDoneAt: number | undefined;
let requests = 0;

function respond(events: string): Buffer {
  return Buffer.from(
    `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: ${Buffer.byteLength(events)}${HEAD_END}${events}`,
  );
}

function answer(socket: Socket, body: Buffer): void {
  requests++;
  const name = NAME.exec(body.toString("latin1", 0, NAME_WITHIN))?.[1];
  const say = (bytes: Buffer) => {
    if (!socket.destroyed) socket.write(bytes);
  };
  switch (name) {
    case MODELS.slow:
      setTimeout(() => say(textAnswer), SLOW_MS);
      break;
    case MODELS.held:
      held.push(() => say(textAnswer));
      break;
    case MODELS.child:
      say(textAnswer);
      childDoneAt = performance.now();
      break;
    case MODELS.parent:
      if (childDoneAt !== undefined) wakes.push(performance.now() - childDoneAt);
      childDoneAt = undefined;
      say(textAnswer);
      break;
    case MODELS.tool: {
      const results = countOf(body, RESULT);
      if (results > 0) steps.push(performance.now() - askedAt);
      say(results < TOOL_STEPS ? respond(callEvents(results)) : textAnswer);
      askedAt = performance.now();
      break;
    }
    default:
      say(textAnswer);
  }
}

function countOf(body: Buffer, text: string): number {
  let count = 0;
  for (let at = body.indexOf(text); at >= 0; at = body.indexOf(text, at + text.length)) count++;
  return count;
}

const server = createServer((socket) => {
  let rest: Buffer = EMPTY;
  socket.setNoDelay(true);
  socket.on("error", () => {});
  socket.on("data", (chunk: Buffer) => {
    rest = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    for (;;) {
      const headEnd = rest.indexOf(HEAD_END);
      if (headEnd < 0) return;
      const length = Number(LENGTH.exec(rest.toString("latin1", 0, headEnd))?.[1] ?? 0);
      const end = headEnd + HEAD_END.length + length;
      if (rest.length < end) return;
      const body = rest.subarray(headEnd + HEAD_END.length, end);
      rest = rest.subarray(end);
      answer(socket, body);
    }
  });
});

process.on("message", (message: "release" | "counts") => {
  if (message === "counts") {
    process.send?.({ steps, wakes, requests, held: held.length });
    steps = [];
    wakes = [];
    return;
  }
  const waiting = held;
  held = [];
  for (const go of waiting) go();
});
process.on("disconnect", () => process.exit(0));
server.listen(0, "127.0.0.1", () => process.send?.(server.address()));
