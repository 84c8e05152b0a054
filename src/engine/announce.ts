/**
 * Announcements after the commit. Watchers in this process get the events themselves; other servers
 * get ids over the bus and read the database. Losing any of it costs latency only.
 */
import type { Bus, BusMessage } from "#base/bus/bus.ts";
import type { Delta, SessionEvent } from "#protocol/events.ts";
import type { CancelReason } from "#protocol/frames.ts";

export interface CancelOrder {
  runnerId: string;
  run: string;
  fence: number;
  reason: CancelReason;
  graceMs: number;
}

export interface SessionWatcher {
  /** Delivers events that were just appended, in order. */
  appended(events: SessionEvent[]): void;
  /** Reports that the log has grown to this seq on another server. */
  grown(lastSeq: number): void;
  delta(delta: Delta): void;
}

export interface Announcer {
  watchSession(sessionId: string, watcher: SessionWatcher): () => void;
  isWatched(sessionId: string): boolean;
  /** Sessions that somebody on this server follows. */
  watched(): string[];
  /** Reports the length of a log to the watchers here, when the bus did not. */
  grown(sessionId: string, lastSeq: number): void;
  appended(sessionId: string, events: () => SessionEvent[], lastSeq: number): void;
  delta(sessionId: string, delta: Delta): void;
  runsReady(): void;
  onRunsReady(handler: () => void): () => void;
  cancel(order: CancelOrder): void;
  onCancel(handler: (order: CancelOrder) => void): () => void;
  /** Reports that an item of a list has changed: clients refetch it. */
  hint(topic: string, type: string, id: string): void;
  onHint(
    topic: string,
    handler: (hint: { type: string; id: string; rev: number }) => void,
  ): () => void;
  /** Notifies a runner that a session whose files it keeps is resting or gone. */
  tidy(runnerId: string): void;
  onTidy(handler: (runnerId: string) => void): () => void;
  gateClosed(gateId: string): void;
  onGateClosed(handler: (gateId: string) => void): () => void;
}

const sessionTopic = (id: string) => `session.${id}`;

export function createAnnouncer(bus: Bus, serverId: string): Announcer {
  const watchers = new Map<string, Set<SessionWatcher>>();
  const leaves = new Map<string, () => void>();
  let rev = 0;

  function each(sessionId: string, tell: (watcher: SessionWatcher) => void): void {
    for (const watcher of watchers.get(sessionId) ?? []) tell(watcher);
  }

  function fromElsewhere(sessionId: string, message: BusMessage): void {
    if (message.from === serverId) return;
    if (message.delta) each(sessionId, (watcher) => watcher.delta(message.delta as Delta));
    else each(sessionId, (watcher) => watcher.grown(message.lastSeq as number));
  }

  return {
    watchSession(sessionId, watcher) {
      const set = watchers.get(sessionId) ?? new Set();
      const first = set.size === 0;
      watchers.set(sessionId, set.add(watcher));
      const leave = first
        ? bus.subscribe(sessionTopic(sessionId), (m) => fromElsewhere(sessionId, m))
        : undefined;
      if (leave) leaves.set(sessionId, leave);
      return () => {
        set.delete(watcher);
        if (set.size > 0 || watchers.get(sessionId) !== set) return;
        watchers.delete(sessionId);
        leaves.get(sessionId)?.();
        leaves.delete(sessionId);
      };
    },
    isWatched: (sessionId) => watchers.has(sessionId),
    watched: () => [...watchers.keys()],
    grown: (sessionId, lastSeq) => each(sessionId, (watcher) => watcher.grown(lastSeq)),
    appended(sessionId, events, lastSeq) {
      if (watchers.has(sessionId)) {
        const list = events();
        each(sessionId, (watcher) => watcher.appended(list));
      }
      bus.publish(sessionTopic(sessionId), { from: serverId, lastSeq });
    },
    delta(sessionId, delta) {
      each(sessionId, (watcher) => watcher.delta(delta));
      bus.publish(sessionTopic(sessionId), { from: serverId, delta });
    },
    runsReady: () => bus.publish("runs.ready", {}),
    onRunsReady: (handler) => bus.subscribe("runs.ready", handler),
    cancel: (order) => bus.publish("runs.cancel", { ...order }),
    onCancel: (handler) =>
      bus.subscribe("runs.cancel", (m) => handler(m as unknown as CancelOrder)),
    hint: (topic, type, id) => bus.publish(`hint.${topic}`, { type, id, rev: ++rev }),
    onHint: (topic, handler) =>
      bus.subscribe(`hint.${topic}`, (m) =>
        handler(m as unknown as { type: string; id: string; rev: number }),
      ),
    tidy: (runnerId) => bus.publish("runners.tidy", { runnerId }),
    onTidy: (handler) => bus.subscribe("runners.tidy", (m) => handler(m.runnerId as string)),
    gateClosed: (gateId) => bus.publish("gates.closed", { gateId }),
    onGateClosed: (handler) => bus.subscribe("gates.closed", (m) => handler(m.gateId as string)),
  };
}
