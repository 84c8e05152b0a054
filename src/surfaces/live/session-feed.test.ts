import { describe, expect, it } from "vitest";
import type { Announcer, SessionWatcher } from "#engine/index.ts";
import type { Delta, SessionEvent } from "#protocol/events.ts";
import { SessionFeeds, type Sink } from "./session-feed.ts";

/** Creates a session's log and its watchers. */
function createStage() {
  const log: SessionEvent[] = [];
  const watchers = new Set<SessionWatcher>();
  const announcer = {
    watchSession(_id: string, watcher: SessionWatcher) {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  } as unknown as Announcer;
  let reading = 0;
  const most = { reading: 0 };
  const read = async (_id: string, after: number, { limit }: { limit: number }) => {
    most.reading = Math.max(most.reading, ++reading);
    await new Promise((resolve) => setImmediate(resolve));
    reading -= 1;
    const rest = log.filter((event) => event.seq > after);
    return { events: rest.slice(0, limit), more: rest.length > limit };
  };
  const feeds = new SessionFeeds(announcer, read, (error) => {
    throw error;
  });
  const write = (count = 1) => {
    const fresh = Array.from({ length: count }, () => {
      const event = { seq: log.length + 1, type: "notice", entryId: null } as SessionEvent;
      log.push(event);
      return event;
    });
    return fresh;
  };
  const tell = (act: (watcher: SessionWatcher) => void) => {
    for (const watcher of watchers) act(watcher);
  };
  return { feeds, write, tell, watchers, most };
}

function createSink(isFull: () => boolean = () => false, party = "a") {
  const seqs: number[] = [];
  const deltas: Delta[] = [];
  const movedBack: number[] = [];
  let release = () => {};
  const sink: Sink = {
    party,
    isFull,
    event: ({ seq }) => void seqs.push(seq),
    delta: ({ json }) => void deltas.push(JSON.parse(json) as Delta),
    drained: () =>
      new Promise((resolve) => {
        release = resolve;
      }),
    movedBack: (after) => movedBack.push(after),
  };
  return { sink, seqs, deltas, movedBack, drain: () => release() };
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 5));
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1);
const piece = (offset: number, text: string): Delta => ({
  entryId: "ent_1",
  thread: "main",
  kind: "text",
  offset,
  text,
});

describe("a session's feed", () => {
  it("replays, then is live, with what is written in between", async () => {
    const { feeds, write, tell } = createStage();
    write(450);
    const { sink, seqs } = createSink();
    feeds.follow("s", 0, sink);
    const between = write(3);
    tell((watcher) => watcher.appended(between));
    await expect.poll(() => seqs.length).toBe(453);
    const later = write(2);
    tell((watcher) => watcher.appended(later));
    expect(seqs).toEqual(upTo(455));
  });

  it("reads the database when an announcement was lost", async () => {
    const { feeds, write, tell } = createStage();
    const { sink, seqs } = createSink();
    feeds.follow("s", 0, sink);
    await settle();
    write(3);
    const told = write(1);
    tell((watcher) => watcher.appended(told));
    await settle();
    write(2);
    tell((watcher) => watcher.grown(6));
    await settle();
    expect(seqs).toEqual(upTo(6));
  });

  it("holds nothing for a reader that is full, and goes on from the database", async () => {
    const { feeds, write, tell } = createStage();
    let full = false;
    const { sink, seqs, movedBack, drain } = createSink(() => full);
    feeds.follow("s", 0, sink);
    await settle();
    full = true;
    for (let i = 0; i < 50; i++) {
      const one = write();
      tell((watcher) => watcher.appended(one));
    }
    expect(seqs).toEqual([]);
    full = false;
    drain();
    await settle();
    expect(movedBack).toEqual([0]);
    expect(seqs).toEqual(upTo(50));
  });

  it("passes on only what followers lack of an entry that is resent whole", async () => {
    const { feeds, tell } = createStage();
    const early = createSink();
    feeds.follow("s", 0, early.sink);
    await settle();
    tell((watcher) => watcher.delta(piece(0, "ab")));
    tell((watcher) => watcher.delta(piece(2, "c")));
    tell((watcher) => watcher.delta(piece(0, "abc")));
    tell((watcher) => watcher.delta(piece(0, "abcd")));
    expect(early.deltas.map(({ offset, text }) => [offset, text])).toEqual([
      [0, "ab"],
      [2, "c"],
      [3, "d"],
    ]);
    const late = createSink();
    feeds.follow("s", 0, late.sink);
    await settle();
    expect(late.deltas).toEqual([piece(0, "abcd")]);
  });

  it("starts over when an entry is written anew", async () => {
    const { feeds, tell } = createStage();
    const { sink, deltas } = createSink();
    feeds.follow("s", 0, sink);
    await settle();
    tell((watcher) => watcher.delta(piece(0, "first try")));
    tell((watcher) => watcher.delta(piece(0, "second")));
    expect(deltas.at(-1)).toEqual(piece(0, "second"));
  });

  it("stops watching when the last follower has left", async () => {
    const { feeds, watchers } = createStage();
    const leave = [createSink(), createSink()].map(({ sink }) => feeds.follow("s", 0, sink));
    expect(watchers.size).toBe(1);
    for (const each of leave) void each();
    expect(watchers.size).toBe(0);
  });

  it("lets replays of one party take turns with those of others", async () => {
    const { feeds, write, most } = createStage();
    write(2_000);
    const flood = Array.from({ length: 200 }, () => createSink(undefined, "flood"));
    for (const { sink } of flood) void feeds.follow("s", 0, sink);
    const victim = createSink(undefined, "victim");
    void feeds.follow("s", 0, victim.sink);
    await expect.poll(() => victim.seqs.length, { interval: 1 }).toBe(2_000);
    // The flood has hardly begun.
    const done = flood.filter(({ seqs }) => seqs.length === 2_000);
    expect(done.length).toBeLessThan(20);
    expect(most.reading).toBeLessThanOrEqual(3);
    await expect.poll(() => flood.every(({ seqs }) => seqs.length === 2_000)).toBe(true);
  });

  it("sends a full reader no event of any of its replays, and ends them when it leaves", async () => {
    const { feeds, write, most } = createStage();
    write(1_000);
    const { sink, seqs } = createSink(() => true);
    const leaves = Array.from({ length: 50 }, () => feeds.follow("s", 0, sink));
    await settle();
    expect(seqs).toEqual([]);
    await Promise.all(leaves.map((leave) => leave()));
    expect(most.reading).toBe(0);
  });
});
