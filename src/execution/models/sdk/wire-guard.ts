/**
 * Watches one request on the wire: ends it when nothing comes for too long, when too much comes,
 * and when it is aborted. Memory stays bounded whatever a provider sends: the whole answer, one
 * line of it, and the body of an error each have a limit.
 */
import { WireFault } from "./failures.ts";

export type Fetch = typeof globalThis.fetch;

/** Limit of an answer: in small pieces it is many times its text on the wire. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** Limit of a line, which is held in memory until its end comes. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
const MAX_ERROR_BYTES = 64 * 1024;
const NEWLINE = 10;

export interface WireOptions {
  fetch: Fetch;
  idleTimeoutMs: number;
  /** Aborts the request from outside. */
  signal: AbortSignal;
}

/** Body of an answer as it comes; null at its end. */
export interface Chunks {
  next(): Promise<Uint8Array | null>;
  cancel(): Promise<void>;
}

export interface WireResponse {
  response: Response;
  /** Beginning of the body when the status is not a success; otherwise null. */
  refusal: string | null;
  chunks: Chunks | null;
}

/** Shared by all: making an error records a stack, and this one is expected. */
const CLOSED = new Error("closed");

export class WireGuard {
  /** True once an answer with a status of success has begun. */
  hasBegun = false;
  /** Fault noticed here; more exact than the error that the SDK throws. */
  fault: WireFault | null = null;
  readonly #options: WireOptions;
  readonly #gone = new AbortController();
  readonly #onAbort = () => this.#end(new Error("aborted"));
  #timer: NodeJS.Timeout | undefined;
  #reject: ((error: unknown) => void) | null = null;
  #isOver = false;

  constructor(options: WireOptions) {
    this.#options = options;
    options.signal.addEventListener("abort", this.#onAbort, { once: true });
    if (options.signal.aborted) this.#onAbort();
  }

  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  /** Waits for a step of the stream, but never longer than the request lives. One step at a time. */
  wait<T>(step: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      step.then(resolve, reject);
      if (this.#gone.signal.aborted) reject(this.fault ?? this.#gone.signal.reason);
    });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#options.signal.removeEventListener("abort", this.#onAbort);
    this.#reject = null;
    if (!this.#isOver) this.#gone.abort(CLOSED);
  }

  fail(fault: WireFault): WireFault {
    this.fault ??= fault;
    this.#end(this.fault);
    return this.fault;
  }

  /** Sends the request, and watches the answer. */
  async open(input: Parameters<Fetch>[0], init: Parameters<Fetch>[1]): Promise<WireResponse> {
    this.#arm();
    try {
      // A redirect would carry the key to wherever it points.
      const response = await this.#options.fetch(input, {
        ...init,
        redirect: "manual",
        signal: this.#gone.signal,
      });
      return await this.#check(response);
    } finally {
      this.#disarm();
    }
  }

  /** The same for callers that need a `Response`. */
  readonly fetch: Fetch = async (input, init) => {
    const { response, refusal, chunks } = await this.open(input, init);
    const { status, statusText, headers } = response;
    if (refusal !== null)
      return new Response(refusal || null, { status: status || 502, statusText, headers });
    return chunks ? new Response(asStream(chunks), { status, statusText, headers }) : response;
  };

  async #check(response: Response): Promise<WireResponse> {
    const { body, headers } = response;
    if (!response.ok) return { response, refusal: body ? await readStart(body) : "", chunks: null };
    this.hasBegun = true;
    const type = headers.get("content-type") ?? "";
    // The request asked for a stream of events, so this is an error with the wrong status.
    if (/application\/json|text\/html/.test(type)) {
      const text = body ? await readStart(body) : "";
      this.fault = new ErrorBody(text, Object.fromEntries(headers));
      throw this.fault;
    }
    return { response, refusal: null, chunks: body && this.#guard(body) };
  }

  #guard(body: ReadableStream<Uint8Array>): Chunks {
    const reader = body.getReader();
    let bytes = 0;
    let lineBytes = 0;
    return {
      next: async () => {
        this.#arm();
        const { done, value } = await reader.read().finally(() => this.#disarm());
        if (done) {
          this.#isOver = true;
          return null;
        }
        bytes += value.length;
        const newline = value.lastIndexOf(NEWLINE);
        lineBytes = newline < 0 ? lineBytes + value.length : value.length - newline - 1;
        if (bytes > MAX_BODY_BYTES || lineBytes > MAX_LINE_BYTES) {
          throw this.fail(new WireFault("model_response_too_large", "too many bytes"));
        }
        return value;
      },
      cancel: () => reader.cancel(),
    };
  }

  /** Starts the timer, which runs only during a wait: a slow reader is not a silent provider. */
  #arm(): void {
    if (this.#timer) {
      this.#timer.refresh();
      return;
    }
    this.#timer = setTimeout(() => {
      this.fail(new WireFault("model_silent", "nothing was sent"));
    }, this.#options.idleTimeoutMs);
  }

  #disarm(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #end(reason: unknown): void {
    clearTimeout(this.#timer);
    this.#gone.abort(reason);
    this.#reject?.(reason);
  }
}

/** An error that came with a status of success. Its fields are those of SDK errors. */
class ErrorBody extends WireFault {
  readonly statusCode = 200;
  readonly responseBody: string;
  readonly responseHeaders: Record<string, string>;

  constructor(responseBody: string, responseHeaders: Record<string, string>) {
    super("model_stream_broken", responseBody.slice(0, 1000));
    this.responseBody = responseBody;
    this.responseHeaders = responseHeaders;
  }
}

function asStream(chunks: Chunks): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const bytes = await chunks.next();
        if (bytes) controller.enqueue(bytes);
        else controller.close();
      },
      cancel: () => chunks.cancel(),
    },
    { highWaterMark: 0 },
  );
}

/** Beginning of a body as text; the rest is never fetched. */
export async function readStart(
  body: ReadableStream<Uint8Array>,
  maxBytes = MAX_ERROR_BYTES,
): Promise<string> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  while (bytes < maxBytes) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    bytes += value.length;
  }
  await reader.cancel().catch(() => undefined);
  return Buffer.concat(chunks).subarray(0, maxBytes).toString("utf8");
}
