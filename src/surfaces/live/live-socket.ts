/**
 * One `/api/live` connection: many topics over one socket. Session topics replay from a cursor; the others
 * only hint that something has changed.
 */
import type { WebSocket } from "ws";
import type { Log } from "#base/log.ts";
import { Refusal } from "#base/refusal.ts";
import {
  type Action,
  type Announcer,
  may,
  type Principal,
  partyOf,
  principalKey,
} from "#engine/index.ts";
import {
  type LiveClientFrame,
  type LiveServerFrame,
  liveClientFrameSchema,
} from "#protocol/live.ts";
import { resolveSessionId } from "#protocol/names/session-ids.ts";
import type { SessionFeeds } from "./session-feed.ts";
import { type IntakeRate, SocketIntake } from "./socket-intake.ts";
import { createDrains, type Drains, sinkOf, TEXT } from "./socket-sink.ts";

const MAX_TOPICS = 500;
/** Pending hints while a socket takes nothing. */
const MAX_WAITING_HINTS = 5_000;
const PATIENCE_MS = 10_000;
const TOPIC = /^[\w:.@-]+$/;
const BOARD = "board:";
const HINT_PAUSE_MS = 100;
const PING_EVERY_MS = 20_000;
export const MAX_LIVE_FRAME_BYTES = 16 * 1024;

export interface LiveOptions {
  feeds: SessionFeeds;
  announcer: Announcer;
  /** `until`: end of access that was opened to an admin. */
  authorizeRead(
    principal: Principal,
    sessionId: string,
  ): Promise<{ lastSeq: number; until: number | null }>;
  /**
   * Id of the session at the top of its tree, which has the board; refused to callers who may not read it.
   */
  findBoard(principal: Principal, sessionId: string): Promise<string>;
  now(): number;
  /** True while the credential behind the socket is valid. */
  stillGood(): Promise<boolean>;
  /** The rate of the socket and of the credential behind it. */
  rate: MessageRate;
  log: Log;
}

/** Rate limit of a sender. */
export interface MessageRate extends IntakeRate {
  spend(cost: number): void;
}

/**
 * Together with the time for which a credential is cached, less than the second that a revocation may take.
 */
const CHECK_EVERY_MS = 400;

export function serveLive(socket: WebSocket, principal: Principal, options: LiveOptions): void {
  const topics = new Map<string, Topic>();
  const drains = createDrains(socket);
  const send = (frame: LiveServerFrame) => socket.send(JSON.stringify(frame), TEXT, drains.flushed);

  const subscriber: Subscriber = { socket, principal, options, drains, send };
  const { rate } = options;
  new SocketIntake(socket, {
    rate,
    count: () => rate.spend(1),
    room: () => (drains.isFull() ? drains.wait() : undefined),
    handle: (data, isBinary) =>
      receive(isBinary ? undefined : String(data)).catch((error: unknown) =>
        options.log.error({ err: error }, "a live frame failed"),
      ),
    // A frame must not overtake the one before it.
    atOnce: 1,
    atOnceBytes: MAX_LIVE_FRAME_BYTES,
    patienceMs: PATIENCE_MS,
    gaveUp: () => options.log.warn({ by: principalKey(principal) }, "a live socket sent too much"),
  });
  const stopWatching = keepAlive(socket, options, closeOld);
  socket.on("close", () => {
    stopWatching();
    drains.end();
    for (const { leave } of topics.values()) void leave();
    topics.clear();
  });

  /** Closes topics whose access has ended. */
  function closeOld(): void {
    for (const [topic, { leave, until }] of topics) {
      if (until === null || options.now() < until) continue;
      void leave();
      topics.delete(topic);
      send({ op: "error", topic, code: "not_found", message: "You no longer have access to it." });
    }
  }

  async function receive(text: string | undefined): Promise<void> {
    const frame = parseFrame(text);
    if (!frame)
      return send({
        op: "error",
        code: "invalid_frame",
        message: "Send {op: subscribe | unsubscribe, topic, after?} as JSON.",
      });
    const earlier = topics.get(frame.topic);
    topics.delete(frame.topic);
    // One replay of a topic at a time: the next begins when the one before it has stopped.
    await earlier?.leave();
    if (frame.op === "unsubscribe") return;
    if (topics.size >= MAX_TOPICS)
      return send({
        op: "error",
        topic: frame.topic,
        code: "too_many_topics",
        message: `At most ${MAX_TOPICS} topics on one socket.`,
      });
    try {
      const topic = await subscribe(subscriber, frame.topic, frame.after ?? 0);
      if (socket.readyState !== socket.OPEN) return await topic.leave();
      topics.set(frame.topic, topic);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      send({ op: "error", topic: frame.topic, code: error.code, message: error.message });
    }
  }
}

interface Subscriber {
  socket: WebSocket;
  principal: Principal;
  options: LiveOptions;
  drains: Drains;
  send(frame: LiveServerFrame): void;
}

async function subscribe(
  { socket, principal, options, drains, send }: Subscriber,
  topic: string,
  after: number,
): Promise<Topic> {
  if (topic.startsWith("session:") && TOPIC.test(topic)) {
    const userId = principal.kind === "user" ? principal.userId : null;
    const sessionId = resolveSessionId(topic.slice("session:".length), userId);
    const { lastSeq, until } = await options.authorizeRead(principal, sessionId);
    send({ op: "subscribed", topic, after });
    // A cursor from beyond the end is from before a restore.
    if (after > lastSeq) send({ op: "reset", topic, after: lastSeq });
    const from = Math.min(after, lastSeq);
    const isShared = topic === `session:${sessionId}`;
    const party = partyOf(principal);
    const sink = sinkOf(socket, { topic, isShared, party, drains, send });
    return { leave: options.feeds.follow(sessionId, from, sink), until };
  }
  const source = await hintSource(topic, principal, options);
  if (source === undefined)
    throw new Refusal(
      "not_found",
      "not_found",
      "No such topic. Use session:<id>, board:<id>, me or runners.",
    );
  send({ op: "subscribed", topic, after: 0 });
  const sendHint = (hint: Hint) => {
    if (mayHear(principal, hint)) send({ topic, ...hint });
  };
  const leave = followHints(options.announcer, source, { send: sendHint, socket, drains });
  return { leave, until: null };
}

interface Topic {
  leave(): Promise<void>;
  /** Null: as long as the socket. */
  until: number | null;
}

async function hintSource(
  topic: string,
  principal: Principal,
  { findBoard }: LiveOptions,
): Promise<string | undefined> {
  if (principal.kind !== "user") return undefined;
  if (topic.startsWith(BOARD) && TOPIC.test(topic)) {
    const sessionId = resolveSessionId(topic.slice(BOARD.length), principal.userId);
    return BOARD + (await findBoard(principal, sessionId));
  }
  if (topic === "me") return `user:${principal.userId}`;
  return topic === "runners" ? "runners" : undefined;
}

interface Hint {
  type: string;
  id: string;
  rev: number;
}

/** Rights needed for hints: the fact of a change is content too. */
const HINT_RIGHTS: Readonly<Record<string, Action>> = {
  session: "session.read",
  prompt: "session.read",
  inbox: "session.read",
  approval: "approval.read",
  secret: "secret.read",
  runner: "runner.read",
  task: "task.read",
  memory: "memory.read",
  message: "mail.read",
};

function mayHear(principal: Principal, { type }: Hint): boolean {
  const action = HINT_RIGHTS[type];
  if (action !== undefined) return may(principal, action, { orgId: principal.orgId });
  return principal.kind === "user" && principal.scopes.includes("*");
}

interface HintReader {
  send(hint: Hint): void;
  socket: WebSocket;
  drains: Drains;
}

/** Coalesces hints of a burst: one per thing, sent when the socket takes them. */
function followHints(
  announcer: Announcer,
  source: string,
  { send: sendHint, socket, drains }: HintReader,
): () => Promise<void> {
  const waiting = new Map<string, Hint>();
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    timer = undefined;
    if (drains.isFull()) return later();
    for (const item of waiting.values()) sendHint(item);
    waiting.clear();
  };
  const later = () => {
    timer ??= setTimeout(flush, HINT_PAUSE_MS);
  };
  const leave = announcer.onHint(source, (hint) => {
    waiting.set(`${hint.type}:${hint.id}`, hint);
    // The socket reads nothing. After a reconnect it fetches everything, which is less than all of these.
    if (waiting.size > MAX_WAITING_HINTS) socket.terminate();
    else later();
  });
  return async () => {
    leave();
    clearTimeout(timer);
    waiting.clear();
  };
}

function parseFrame(text: string | undefined): LiveClientFrame | undefined {
  if (text === undefined) return undefined;
  try {
    const parsed = liveClientFrameSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

/** Detects a dead peer, a revoked credential, and access that has ended. */
function keepAlive(
  socket: WebSocket,
  { stillGood, log }: LiveOptions,
  closeOld: () => void,
): () => void {
  let answered = true;
  socket.on("pong", () => {
    answered = true;
  });
  const pings = setInterval(() => {
    if (!answered) return socket.terminate();
    answered = false;
    socket.ping();
  }, PING_EVERY_MS);
  const checks = setInterval(() => {
    closeOld();
    stillGood().then(
      (good) => {
        if (!good) socket.close(4401, "signed out");
      },
      (error: unknown) => log.warn({ err: error }, "could not check a credential"),
    );
  }, CHECK_EVERY_MS);
  return () => {
    clearInterval(pings);
    clearInterval(checks);
  };
}
