/**
 * State that one session's watchers on this server share: each event is serialised once for all readers, and
 * the entries being written are kept so that a late watcher sees them whole.
 *
 * A follower gets events strictly in the order of their seq. It is either live (each event is passed on as it
 * comes) or catching up (it reads the database from its cursor until it has everything). A reader that cannot
 * keep up is moved back to its cursor: its backlog is the database, not our memory.
 */
import { FairQueue } from "#base/fair-queue.ts";
import type { Announcer } from "#engine/index.ts";
import type { Delta, SessionEvent } from "#protocol/events.ts";

export interface PreparedEvent {
  seq: number;
  type: string;
  /** The event as JSON. */
  json: string;
  /** Payload of a WebSocket frame: built by the first socket that needs it, and shared by all. */
  payload?: Buffer;
  /** The event as a server-sent event, shared in the same way. */
  streamed?: Buffer;
}

export type PreparedDelta = Pick<PreparedEvent, "json" | "payload" | "streamed">;

/** Destination of a follower's frames. */
export interface Sink {
  /** Party that reads: replays of one party take turns with those of others. */
  readonly party: string;
  /** While true, nothing more is sent until `drained` resolves. */
  isFull(): boolean;
  event(event: PreparedEvent): void;
  delta(delta: PreparedDelta): void;
  /** Resolves when there is room again, or when the reader has gone. */
  drained(): Promise<void>;
  /** Called when the reader lagged and continues from the database. */
  movedBack(after: number): void;
}

export type ReadEvents = (
  sessionId: string,
  after: number,
  page: { limit: number; maxBytes: number },
) => Promise<{ events: SessionEvent[]; more: boolean }>;

/** Ends a follower. Resolves when nothing is read for it any more. */
export type Leave = () => Promise<void>;

/** A replay reads pages of this size, and lets others read theirs in between. */
const PAGE = { limit: 200, maxBytes: 64 * 1024 } as const;
const PAGES_AT_ONCE = 8;
const PAGES_PER_PARTY = 2;
const RETRY_MS = 1_000;
/** Longer entries are not kept for late watchers, who see them when they are finished. */
const MAX_PARTIAL_CHARS = 256 * 1024;
const MAX_PARTIALS = 32;

export class SessionFeeds {
  readonly #announcer: Announcer;
  readonly #read: ReadEvents;
  readonly #onError: (error: unknown) => void;
  readonly #feeds = new Map<string, SessionFeed>();
  readonly #queue = new FairQueue({ atOnce: PAGES_AT_ONCE, perParty: PAGES_PER_PARTY });

  constructor(announcer: Announcer, read: ReadEvents, onError: (error: unknown) => void) {
    this.#announcer = announcer;
    this.#read = read;
    this.#onError = onError;
  }

  /** Follows a session from a cursor. Returns the function that ends it. */
  follow(sessionId: string, after: number, sink: Sink): Leave {
    let feed = this.#feeds.get(sessionId);
    if (!feed) {
      feed = new SessionFeed(sessionId, {
        read: this.#read,
        onError: this.#onError,
        queue: this.#queue,
      });
      const created = feed;
      const leave = this.#announcer.watchSession(sessionId, created);
      created.onEmpty = () => {
        leave();
        this.#feeds.delete(sessionId);
      };
      this.#feeds.set(sessionId, created);
    }
    return feed.add(after, sink);
  }
}

interface Follower {
  cursor: number;
  live: boolean;
  ended: boolean;
  /** Resolves when the follower has ended. */
  left: Promise<void>;
  /** The follower's replay, while there is one. */
  replay: Promise<void>;
  sink: Sink;
}

interface FeedParts {
  read: ReadEvents;
  onError(error: unknown): void;
  queue: FairQueue;
}

class SessionFeed {
  onEmpty = () => {};
  readonly #sessionId: string;
  readonly #parts: FeedParts;
  readonly #followers = new Set<Follower>();
  readonly #partials = new Map<string, Delta>();
  #lastSeq = 0;

  constructor(sessionId: string, parts: FeedParts) {
    this.#sessionId = sessionId;
    this.#parts = parts;
  }

  add(after: number, sink: Sink): Leave {
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    const replay = Promise.resolve();
    const follower: Follower = { cursor: after, live: false, ended: false, left, replay, sink };
    this.#followers.add(follower);
    this.#catchUp(follower);
    return () => {
      follower.ended = true;
      leave();
      if (this.#followers.delete(follower) && this.#followers.size === 0) this.onEmpty();
      return follower.replay;
    };
  }

  appended(events: SessionEvent[]): void {
    for (const event of events) {
      this.#lastSeq = Math.max(this.#lastSeq, event.seq);
      if (event.entryId !== null) this.#partials.delete(event.entryId);
      if (event.type === "run_settled" || event.type === "run_lost") this.#partials.clear();
      let prepared: PreparedEvent | undefined;
      for (const follower of this.#followers) {
        if (!follower.live) continue;
        prepared ??= prepare(event);
        this.#offer(follower, prepared);
      }
    }
  }

  grown(lastSeq: number): void {
    if (lastSeq <= this.#lastSeq) return;
    this.#lastSeq = lastSeq;
    for (const follower of this.#followers) {
      if (follower.live && follower.cursor < lastSeq) this.#fallBack(follower, false);
    }
  }

  delta(delta: Delta): void {
    const fresh = this.#remember(delta);
    if (!fresh) return;
    const prepared = { json: JSON.stringify(fresh) };
    for (const follower of this.#followers) {
      if (!follower.live) continue;
      if (follower.sink.isFull()) this.#fallBack(follower, true);
      else follower.sink.delta(prepared);
    }
  }

  /** Returns the piece that followers here do not have yet; undefined when there is none. */
  #remember(delta: Delta): Delta | undefined {
    const known = this.#partials.get(delta.entryId);
    const fresh = unseenPart(known, delta);
    const text =
      known && fresh?.offset === known.text.length ? known.text + fresh.text : fresh?.text;
    if (fresh === undefined || text === undefined) return undefined;
    const isWhole = fresh.offset === 0 || fresh.offset === known?.text.length;
    const hasRoom = known !== undefined || this.#partials.size < MAX_PARTIALS;
    if (isWhole && hasRoom && text.length <= MAX_PARTIAL_CHARS) {
      this.#partials.set(delta.entryId, { ...fresh, offset: 0, text });
    } else this.#partials.delete(delta.entryId);
    return fresh;
  }

  #offer(follower: Follower, event: PreparedEvent): void {
    if (event.seq <= follower.cursor) return;
    if (event.seq > follower.cursor + 1) {
      this.#fallBack(follower, false);
      return;
    }
    if (follower.sink.isFull()) {
      this.#fallBack(follower, true);
      return;
    }
    follower.cursor = event.seq;
    follower.sink.event(event);
  }

  #fallBack(follower: Follower, lagged: boolean): void {
    follower.live = false;
    if (!lagged) {
      this.#catchUp(follower);
      return;
    }
    hasRoom(follower).then(
      () => {
        if (follower.ended) return;
        follower.sink.movedBack(follower.cursor);
        this.#catchUp(follower);
      },
      () => {},
    );
  }

  #catchUp(follower: Follower): void {
    follower.replay = this.#replay(follower).catch((error: unknown) => {
      if (follower.ended) return;
      this.#parts.onError(error);
      // A failed read must not leave the reader behind.
      setTimeout(() => {
        if (!follower.ended) this.#catchUp(follower);
      }, RETRY_MS).unref();
    });
  }

  /** Sends pages until the follower has everything. A page that does not fit is read again later. */
  async #replay(follower: Follower): Promise<void> {
    const { read, queue } = this.#parts;
    while (!follower.live && !follower.ended) {
      if (follower.sink.isFull()) await hasRoom(follower);
      const release = await queue.enter(follower.sink.party);
      try {
        if (follower.ended) return;
        const { events, more } = await read(this.#sessionId, follower.cursor, PAGE);
        const isSent = sendPage(follower, events);
        if (follower.ended) return;
        // Nothing can happen between here and `live`, so nothing can be missed. A log that is shorter than
        // announced has been purged.
        const isBehind = more || (events.length > 0 && follower.cursor < this.#lastSeq);
        if (isSent && !isBehind) this.#goLive(follower);
      } finally {
        release?.();
      }
    }
  }

  #goLive(follower: Follower): void {
    follower.live = true;
    for (const partial of this.#partials.values()) {
      // A delta that does not fit now is resent whole by its runner, or comes as a finished entry.
      if (follower.sink.isFull()) return;
      follower.sink.delta({ json: JSON.stringify({ ...partial, offset: 0 }) });
    }
  }
}

/** Resolves when more can be sent, or when the follower has left. */
function hasRoom(follower: Follower): Promise<void> {
  return Promise.race([follower.sink.drained(), follower.left]);
}

/** Returns false when the reader was full before the end of the page. */
function sendPage(follower: Follower, events: readonly SessionEvent[]): boolean {
  for (const event of events) {
    if (follower.ended) return false;
    if (follower.sink.isFull()) return false;
    follower.cursor = event.seq;
    follower.sink.event(prepare(event));
  }
  return true;
}

/** Removes the part of a fully resent entry that everybody has. */
function unseenPart(known: Delta | undefined, delta: Delta): Delta | undefined {
  if (!known || delta.offset !== 0 || !delta.text.startsWith(known.text)) return delta;
  const offset = known.text.length;
  return delta.text.length === offset
    ? undefined
    : { ...delta, offset, text: delta.text.slice(offset) };
}

function prepare(event: SessionEvent): PreparedEvent {
  return { seq: event.seq, type: event.type, json: JSON.stringify(event) };
}
