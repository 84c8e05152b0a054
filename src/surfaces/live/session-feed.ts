/**
 * What one session's watchers on this server share: each event is turned into text once, whoever
 * reads it, and the entries being written are remembered so that a late watcher sees them whole.
 *
 * A follower is sent events strictly in the order of their seq. It is either live (each event is
 * handed to it as it comes) or catching up (it reads the database from its cursor until it has
 * everything). A reader that cannot keep up is moved back to its cursor: what waits for it is the
 * database, not our memory.
 */
import type { Announcer } from "#engine/index.ts";
import type { Delta, SessionEvent } from "#protocol/events.ts";

export interface PreparedEvent {
  seq: number;
  type: string;
  /** The event as JSON. */
  json: string;
  /** As a WebSocket frame's payload: made by the first socket that needs it, and shared by all. */
  payload?: Buffer;
}

export type PreparedDelta = Pick<PreparedEvent, "json" | "payload">;

/** Where a follower's frames go. */
export interface Sink {
  /** Returns false when no more should be sent until `drained` resolves. */
  event(event: PreparedEvent): boolean;
  delta(delta: PreparedDelta): boolean;
  drained(): Promise<void>;
  /** The reader lagged and now continues from the database. */
  movedBack(after: number): void;
}

export type ReadEvents = (
  sessionId: string,
  after: number,
  limit: number,
) => Promise<SessionEvent[]>;

const PAGE = 200;
const RETRY_MS = 1_000;
/** Entries longer than this are not remembered for late watchers; they see them when they are finished. */
const MAX_PARTIAL_CHARS = 256 * 1024;
const MAX_PARTIALS = 32;

export class SessionFeeds {
  readonly #announcer: Announcer;
  readonly #read: ReadEvents;
  readonly #onError: (error: unknown) => void;
  readonly #feeds = new Map<string, SessionFeed>();

  constructor(announcer: Announcer, read: ReadEvents, onError: (error: unknown) => void) {
    this.#announcer = announcer;
    this.#read = read;
    this.#onError = onError;
  }

  /** Follows a session from a cursor. Returns the function that ends it. */
  follow(sessionId: string, after: number, sink: Sink): () => void {
    let feed = this.#feeds.get(sessionId);
    if (!feed) {
      feed = new SessionFeed(sessionId, this.#read, this.#onError);
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
  sink: Sink;
}

class SessionFeed {
  onEmpty = () => {};
  readonly #sessionId: string;
  readonly #read: ReadEvents;
  readonly #onError: (error: unknown) => void;
  readonly #followers = new Set<Follower>();
  readonly #partials = new Map<string, Delta>();
  #lastSeq = 0;

  constructor(sessionId: string, read: ReadEvents, onError: (error: unknown) => void) {
    this.#sessionId = sessionId;
    this.#read = read;
    this.#onError = onError;
  }

  add(after: number, sink: Sink): () => void {
    const follower: Follower = { cursor: after, live: false, ended: false, sink };
    this.#followers.add(follower);
    this.#catchUp(follower);
    return () => {
      follower.ended = true;
      if (this.#followers.delete(follower) && this.#followers.size === 0) this.onEmpty();
    };
  }

  appended(events: SessionEvent[]): void {
    for (const event of events) {
      this.#lastSeq = Math.max(this.#lastSeq, event.seq);
      if (event.entryId !== null) this.#partials.delete(event.entryId);
      if (event.type === "run_settled" || event.type === "run_lost") this.#partials.clear();
      const prepared = prepare(event);
      for (const follower of this.#followers) if (follower.live) this.#offer(follower, prepared);
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
      if (follower.live && !follower.sink.delta(prepared)) this.#fallBack(follower, true);
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
    follower.cursor = event.seq;
    if (!follower.sink.event(event)) this.#fallBack(follower, true);
  }

  #fallBack(follower: Follower, lagged: boolean): void {
    follower.live = false;
    if (!lagged) {
      this.#catchUp(follower);
      return;
    }
    follower.sink.drained().then(
      () => {
        if (follower.ended) return;
        follower.sink.movedBack(follower.cursor);
        this.#catchUp(follower);
      },
      () => {},
    );
  }

  #catchUp(follower: Follower): void {
    this.#replay(follower).catch((error: unknown) => {
      if (follower.ended) return;
      this.#onError(error);
      // The reader must not be left standing where the database failed it.
      setTimeout(() => {
        if (!follower.ended) this.#catchUp(follower);
      }, RETRY_MS).unref();
    });
  }

  async #replay(follower: Follower): Promise<void> {
    let isBehind = true;
    while (isBehind) {
      const events = await this.#read(this.#sessionId, follower.cursor, PAGE);
      await sendAll(follower, events);
      if (follower.ended) return;
      // From here to `live` nothing can come in between, so nothing can be missed. A log that is
      // shorter than what was told has been purged.
      isBehind = events.length === PAGE || (events.length > 0 && follower.cursor < this.#lastSeq);
    }
    follower.live = true;
    for (const partial of this.#partials.values())
      follower.sink.delta({ json: JSON.stringify({ ...partial, offset: 0 }) });
  }
}

async function sendAll(follower: Follower, events: readonly SessionEvent[]): Promise<void> {
  for (const event of events) {
    if (follower.ended) return;
    follower.cursor = event.seq;
    if (!follower.sink.event(prepare(event))) await follower.sink.drained();
  }
}

/** An entry that is resent whole is passed on without what everybody has. */
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
