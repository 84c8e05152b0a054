import { expect, test } from "vitest";
import type { SessionEvent } from "#protocol/events.ts";
import { LiveClient, type Socket } from "./live-client.ts";

class FakeSocket implements Socket {
  sent: { op: string; topic: string; after?: number }[] = [];
  onopen: Socket["onopen"] = null;
  onmessage: Socket["onmessage"] = null;
  onclose: Socket["onclose"] = null;
  send(text: string) {
    this.sent.push(JSON.parse(text));
  }
  close() {}
  emit(frame: object) {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }
}

function setUp() {
  const sockets: FakeSocket[] = [];
  const timers: { run: () => void; afterMs: number }[] = [];
  const client = new LiveClient({
    open: () => {
      const socket = new FakeSocket();
      sockets.push(socket);
      return socket;
    },
    setTimer: (run, afterMs) => timers.push({ run, afterMs }),
    clearTimer: () => {},
    random: () => 1,
  });
  const seen: number[] = [];
  const topic = "session:ses_1";
  const event = (seq: number) => ({ topic, seq, type: "notice" });
  const current = () => {
    const socket = sockets.at(-1);
    if (socket === undefined) throw new Error("no socket was opened");
    return socket;
  };
  const reader = { onEvent: (received: SessionEvent) => seen.push(received.seq) };
  return { client, timers, seen, topic, event, current, reader };
}

test("subscribes from where the reader is, on every connection, and skips what it had", () => {
  const { client, timers, seen, topic, event, current, reader } = setUp();
  client.subscribe(topic, reader, 3);
  client.start();
  current().onopen?.();
  expect(current().sent).toEqual([{ op: "subscribe", topic, after: 3 }]);
  for (const seq of [3, 4, 5, 5]) current().emit(event(seq));
  expect(seen).toEqual([4, 5]);

  current().onclose?.();
  expect(client.connection).toBe("reconnecting");
  timers.at(-1)?.run();
  current().onopen?.();
  expect(client.connection).toBe("live");
  expect(current().sent).toEqual([{ op: "subscribe", topic, after: 5 }]);
  for (const seq of [5, 6]) current().emit(event(seq));
  expect(seen).toEqual([4, 5, 6]);
});

test("a hole is asked for again; what was sent before the answer does not close it", () => {
  const { client, seen, topic, event, current, reader } = setUp();
  client.subscribe(topic, reader, 0);
  client.start();
  current().onopen?.();
  current().emit({ op: "subscribed", topic, after: 0 });
  current().emit(event(1));
  current().emit(event(4));
  current().emit(event(5));
  expect(seen).toEqual([1]);
  expect(current().sent.at(-1)).toEqual({ op: "subscribe", topic, after: 1 });
  current().emit({ op: "subscribed", topic, after: 1 });
  for (const seq of [2, 3, 4, 5]) current().emit(event(seq));
  expect(seen).toEqual([1, 2, 3, 4, 5]);
});

test("a hole that is still there after asking again is accepted", () => {
  const { client, seen, topic, event, current, reader } = setUp();
  client.subscribe(topic, reader, 0);
  client.start();
  current().onopen?.();
  current().emit({ op: "subscribed", topic, after: 0 });
  current().emit(event(2));
  current().emit({ op: "subscribed", topic, after: 0 });
  current().emit(event(2));
  expect(seen).toEqual([2]);
});

test("a reset drops unfinished text and reads on from the reader's own place", () => {
  const { client, seen, topic, event, current, reader } = setUp();
  let resets = 0;
  client.subscribe(topic, { ...reader, onReset: () => resets++ }, 0);
  client.start();
  current().onopen?.();
  current().emit(event(1));
  current().emit({ op: "reset", topic, after: 0 });
  expect(resets).toBe(1);
  expect(current().sent.at(-1)).toEqual({ op: "subscribe", topic, after: 1 });
  for (const seq of [1, 2]) current().emit(event(seq));
  expect(seen).toEqual([1, 2]);
});

test("waits longer after each failure and says so when the server stays away", () => {
  const { client, timers, current } = setUp();
  client.start();
  for (let attempt = 0; attempt < 8; attempt++) {
    current().onclose?.();
    timers.at(-1)?.run();
  }
  expect(timers.map((timer) => timer.afterMs)).toEqual([
    400, 800, 1600, 3200, 6400, 12_800, 15_000, 15_000,
  ]);
  expect(client.connection).toBe("offline");
  current().onopen?.();
  expect(client.connection).toBe("live");
});

test("hints and refusals reach the reader of their topic; nonsense reaches nobody", () => {
  const { client, current } = setUp();
  const heard: string[] = [];
  client.subscribe("me", {
    onHint: (hint) => heard.push(`${hint.type} ${hint.id}`),
    onRefused: (code) => heard.push(code),
  });
  client.start();
  current().onopen?.();
  expect(current().sent).toEqual([{ op: "subscribe", topic: "me" }]);
  current().emit({ topic: "me", type: "session_updated", id: "ses_1", rev: 4 });
  current().emit({ op: "error", topic: "me", code: "forbidden", message: "no" });
  current().emit({ topic: "other", type: "session_updated", id: "ses_1", rev: 4 });
  current().onmessage?.({ data: "{" });
  current().onmessage?.({ data: "[]" });
  expect(heard).toEqual(["session_updated ses_1", "forbidden"]);
});

test("reports on every connection when the server has confirmed the subscription", () => {
  const { client, timers, current } = setUp();
  let begun = 0;
  client.subscribe("board:ses_1", { onSubscribed: () => begun++ });
  client.start();
  for (const times of [1, 2]) {
    current().onopen?.();
    expect(begun).toBe(times - 1);
    current().emit({ op: "subscribed", topic: "board:ses_1", after: 0 });
    expect(begun).toBe(times);
    current().onclose?.();
    timers.at(-1)?.run();
  }
});
