/**
 * A session's log as it grows: every durable event once and in order, with the deltas between them. A lost
 * connection is reopened from the last event seen, until the outage lasts too long.
 */
import { type Clock, systemClock } from "#base/clock.ts";
import { isRecord, ROUTE_TABLE, routePath } from "#client/index.ts";
import type { Delta, SessionEvent } from "#protocol/events.ts";
import { type Api, isPassing } from "./api.ts";
import { readServerSentEvents, type ServerSentEvent } from "./server-sent-events.ts";

const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 5_000;
/** A connection without data for this long may be dead unnoticed. */
const SILENCE_MS = 30_000;
const GIVE_UP_AFTER_MS = 120_000;

export type Followed =
  | { type: "event"; event: SessionEvent }
  | { type: "delta"; delta: Delta }
  /** The server cannot be reached now; sent once per outage. */
  | { type: "away" }
  /** The server responds, for the first time or again. */
  | { type: "here" };

export interface FollowOptions {
  sessionId: string;
  /** Seq after which events are followed. */
  after: number;
  signal: AbortSignal;
  clock?: Clock;
  giveUpAfterMs?: number;
}

export async function* followSession(api: Api, options: FollowOptions): AsyncGenerator<Followed> {
  const { signal, clock = systemClock } = options;
  const position: LogPosition = { lastSeq: options.after, gapAfter: -1 };
  const outage = new Outage(clock, options.giveUpAfterMs ?? GIVE_UP_AFTER_MS);
  while (!signal.aborted) {
    try {
      for await (const item of readOnce(api, options, position)) {
        if (item.type === "here") outage.pause();
        else outage.end();
        yield item;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (outage.note(error) === "begins") yield { type: "away" };
    }
    await clock.sleep(outage.nextPauseMs(), signal);
  }
}

/** Tracks an outage, and the pause before the next attempt. */
class Outage {
  readonly #clock: Clock;
  readonly #giveUpAfterMs: number;
  #since: number | undefined;
  #pauseMs = FIRST_PAUSE_MS;

  constructor(clock: Clock, giveUpAfterMs: number) {
    this.#clock = clock;
    this.#giveUpAfterMs = giveUpAfterMs;
  }

  /** Throws an error that will not pass, or an outage that has lasted too long. */
  note(error: unknown): "begins" | "lasts" {
    if (!isPassing(error)) throw error;
    const now = this.#clock.now();
    const begins = this.#since === undefined;
    this.#since ??= now;
    if (now - this.#since >= this.#giveUpAfterMs) throw error;
    return begins ? "begins" : "lasts";
  }

  /** The server responds; only data proves that the connection holds. */
  pause(): void {
    this.#since = undefined;
  }

  end(): void {
    this.#since = undefined;
    this.#pauseMs = FIRST_PAUSE_MS;
  }

  nextPauseMs(): number {
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
    return pauseMs;
  }
}

interface LogPosition {
  lastSeq: number;
  /** Seq after which events were missing, so that the same gap is requested only once. */
  gapAfter: number;
}

/** Reads one connection until it ends. */
async function* readOnce(
  api: Api,
  options: FollowOptions,
  position: LogPosition,
): AsyncGenerator<Followed> {
  const connection = new AbortController();
  const signal = AbortSignal.any([options.signal, connection.signal]);
  const path = routePath(ROUTE_TABLE.sessions.events, {
    id: options.sessionId,
    query: { after: position.lastSeq },
  });
  const watchdog = setTimeout(() => connection.abort(), SILENCE_MS);
  try {
    const body = await api.stream(path, signal);
    yield { type: "here" };
    for await (const sent of readServerSentEvents(refreshing(watchdog, body))) {
      const item = parse(sent);
      if (item?.type === "event" && !isNext(position, item.event)) {
        if (item.event.seq > position.lastSeq) return;
        continue;
      }
      if (item) yield item;
    }
  } finally {
    clearTimeout(watchdog);
    connection.abort();
  }
}

async function* refreshing(
  timer: NodeJS.Timeout,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) {
      timer.refresh();
      yield chunk;
    }
  } catch {
    // A broken stream counts as ended: the missing events are requested again.
  }
}

/** Advances the position when the event is the next one. */
function isNext(position: LogPosition, { seq }: SessionEvent): boolean {
  if (seq <= position.lastSeq) return false;
  if (seq > position.lastSeq + 1 && position.gapAfter !== position.lastSeq) {
    position.gapAfter = position.lastSeq;
    return false;
  }
  position.lastSeq = seq;
  return true;
}

function parse(sent: ServerSentEvent): Followed | undefined {
  let value: unknown;
  try {
    value = JSON.parse(sent.data);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  if (sent.event === "delta") return { type: "delta", delta: value as Delta };
  return typeof value.seq === "number"
    ? { type: "event", event: value as SessionEvent }
    : undefined;
}
