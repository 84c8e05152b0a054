/**
 * Passes a successful response on, piece by piece, at the pace of its reader. The client gets the end of a
 * metered response after it was counted.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Log } from "#base/log.ts";
import type { Exchange } from "./gateway-exchange.ts";
import { responseHeaders, secretsOf } from "./gateway-headers.ts";
import type { Passage, ReachedProvider } from "./model-gateway.ts";
import { redactStream } from "./redact-stream.ts";

const PIPELINE_LISTENERS = 10;

export interface AnswerFrom {
  provider: ReachedProvider;
  name: string;
  log: Log;
  /** Set for metered responses. */
  passage?: Passage;
}

export async function passAnswer(
  exchange: Exchange,
  answer: IncomingMessage,
  { provider, name, log, passage }: AnswerFrom,
): Promise<Response> {
  const { outgoing } = exchange.c.env;
  const headers = responseHeaders(answer.headers);
  outgoing.writeHead(answer.statusCode ?? 200, { ...headers, "x-accel-buffering": "no" });
  outgoing.flushHeaders();
  answer.once("error", (error: { code?: unknown }) => {
    if (exchange.isClientGone) return;
    const code = typeof error.code === "string" ? error.code : "no reason given";
    log.warn({ provider: name, code }, "a model stream broke");
  });
  const isEventStream = /^text\/event-stream\b/i.test(String(headers["content-type"] ?? ""));
  const meter = passage?.meter(isEventStream);
  exchange.moved();
  const watch = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      exchange.moved();
      meter?.take(chunk);
      done(null, chunk);
    },
    flush(done) {
      if (passage) passage.end(false).then(() => done(), done);
      else done();
    },
  });
  try {
    // Waits for a slow reader, and ends both sides when either disconnects, so the reader sees a broken
    // response.
    const redact = redactStream(secretsOf(provider));
    const { signal } = exchange;
    // The pipeline adds several listeners to the server's own: together more than ten.
    outgoing.setMaxListeners(outgoing.getMaxListeners() + PIPELINE_LISTENERS);
    await pipeline(answer, watch, redact, outgoing as ServerResponse, { signal });
  } catch (error) {
    outgoing.destroy();
    if (!answer.errored && !exchange.signal.aborted)
      log.error({ err: error, provider: name }, "an answer of a model could not be passed on");
  }
  return RESPONSE_ALREADY_SENT;
}
