import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import type { Delta, SessionEvent } from "#protocol/events.ts";
import { type Platform, startPlatform } from "#test/platform.ts";

interface Frame {
  op?: string;
  topic?: string;
  type?: string;
  seq?: number;
  after?: number;
  code?: string;
  [field: string]: unknown;
}

/** Following a session: replay from a cursor, then live, without gap or duplicate. */
describe("live", () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await startPlatform();
  });
  afterAll(() => platform.stop());

  const bearer = () => ({ authorization: `Bearer ${platform.key}` });

  async function* follow(sessionId: string, query = "", headers: Record<string, string> = {}) {
    const response = await fetch(`${platform.url}/api/sessions/${sessionId}/events${query}`, {
      headers: { ...bearer(), ...headers },
    });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true });
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const fields = Object.fromEntries(
          text
            .slice(0, end)
            .split("\n")
            .map((line) => line.split(/: (.*)/s, 2)),
        );
        text = text.slice(end + 2);
        if (fields.data !== undefined)
          yield {
            id: fields.id as string | undefined,
            event: fields.event as string,
            data: JSON.parse(fields.data),
          };
      }
    }
  }

  async function readUntilSettled(
    sessionId: string,
    promptId: string,
    query = "",
    headers: Record<string, string> = {},
  ) {
    const seen: { id: string | undefined; event: string; data: SessionEvent & Delta }[] = [];
    for await (const item of follow(sessionId, query, headers)) {
      seen.push(item);
      if (item.event === "prompt_settled" && item.data.promptId === promptId) break;
    }
    return seen;
  }

  const seqs = (seen: { id: string | undefined }[]) =>
    seen.flatMap(({ id }) => (id === undefined ? [] : [Number(id)]));

  it("streams a turn from its first event to its settlement, with deltas in between", async () => {
    const session = await platform.createSession();
    const reading = follow(session.id);
    expect((await reading.next()).value).toMatchObject({ id: "1", event: "session_created" });
    const prompt = await platform.prompt(session.id, "stream 20 5");
    const seen: { id: string | undefined; event: string; data: SessionEvent & Delta }[] = [];
    for await (const item of reading) {
      seen.push(item);
      if (item.event === "prompt_settled") break;
    }
    expect(seqs(seen)).toEqual(seqs(seen).map((_, i) => i + 2));
    const deltas = seen.filter((item) => item.event === "delta");
    expect(deltas.length).toBeGreaterThan(0);
    expect(deltas.every((item) => item.id === undefined)).toBe(true);
    const written = seen.find(
      (item) => item.event === "message" && item.data.kind === "text",
    )?.data;
    let text = "";
    for (const { data } of deltas) {
      expect(data).toMatchObject({ entryId: written?.entryId, thread: "main", kind: "text" });
      text = text.slice(0, data.offset) + data.text;
    }
    const whole = String(written?.content?.[0]?.text);
    expect(whole.startsWith(text)).toBe(true);
    expect(whole.split(" ")).toHaveLength(20);
    expect(prompt.state).toBe("queued");
  });

  it("continues after a cursor, by query or by Last-Event-ID", async () => {
    const session = await platform.createSession({ runtime: "echo" });
    const prompt = await platform.prompt(session.id, "x");
    await platform.promptIn(prompt.id, "settled");
    const all = seqs(await readUntilSettled(session.id, prompt.id));
    expect(all).toEqual(all.map((_, i) => i + 1));
    expect(seqs(await readUntilSettled(session.id, prompt.id, "?after=3"))).toEqual(all.slice(3));
    expect(
      seqs(await readUntilSettled(session.id, prompt.id, "", { "last-event-id": "5" })),
    ).toEqual(all.slice(5));
  });

  it("has no gap and no duplicate for readers that join at any moment", async () => {
    const session = await platform.createSession();
    const script = Array.from({ length: 40 }, (_, i) => `say line ${i}\nsleep 2`).join("\n");
    const prompt = await platform.prompt(session.id, script);
    const readers = Array.from({ length: 12 }, async (_, i) => {
      await new Promise((resolve) => setTimeout(resolve, i * 10));
      return seqs(await readUntilSettled(session.id, prompt.id));
    });
    const [first, ...others] = await Promise.all(readers);
    expect(first).toEqual(first?.map((_, i) => i + 1));
    for (const other of others) expect(other).toEqual(first);
  });

  function socket(): Promise<{ ws: WebSocket; frames: Frame[]; send(frame: object): void }> {
    return new Promise((resolve, reject) => {
      const ws = new WebSocket(`${platform.url.replace("http", "ws")}/api/live`, {
        headers: bearer(),
      });
      const frames: Frame[] = [];
      ws.on("message", (data) => frames.push(JSON.parse(String(data))));
      ws.on("open", () => resolve({ ws, frames, send: (frame) => ws.send(JSON.stringify(frame)) }));
      ws.on("error", reject);
    });
  }

  it("carries many topics over one socket", async () => {
    const [a, b] = [
      await platform.createSession({ runtime: "echo" }),
      await platform.createSession({ runtime: "echo" }),
    ];
    const { ws, frames, send } = await socket();
    for (const { id } of [a, b]) send({ op: "subscribe", topic: `session:${id}`, after: 0 });
    send({ op: "subscribe", topic: "me" });
    await expect.poll(() => frames.filter((frame) => frame.op === "subscribed")).toHaveLength(3);
    for (const { id } of [a, b]) await platform.prompt(id, "hi");
    const settled = () =>
      frames.filter((frame) => frame.type === "prompt_settled").map((frame) => frame.topic);
    await expect
      .poll(() => settled().sort())
      .toEqual([`session:${a.id}`, `session:${b.id}`].sort());
    await expect
      .poll(() => frames.some((frame) => frame.topic === "me" && frame.type === "session"))
      .toBe(true);
    send({ op: "unsubscribe", topic: `session:${a.id}` });
    await new Promise((resolve) => setTimeout(resolve, 50));
    const before = frames.length;
    const again = await platform.prompt(a.id, "unheard");
    await platform.promptIn(again.id, "settled");
    expect(frames.slice(before).filter((frame) => frame.topic === `session:${a.id}`)).toEqual([]);
    ws.close();
  });

  it("names the changed task of a board, changed by any session of its tree", async () => {
    const parent = await platform.createSupervisor();
    const child = await platform.createSession({ parentSessionId: parent.id });
    const { ws, frames, send } = await socket();
    for (const { id } of [parent, child]) send({ op: "subscribe", topic: `board:${id}` });
    await expect.poll(() => frames.length).toBe(2);
    const { task } = await platform.api.tasks.create({ id: child.id, body: { title: "t" } });
    expect(task.boardId).toBe(parent.id);
    for (const { id } of [parent, child])
      await expect
        .poll(() => frames.find(({ topic, type }) => topic === `board:${id}` && type === "task"))
        .toMatchObject({ id: task.id });
    ws.close();
  });

  it("refuses unknown topics and unreadable frames", async () => {
    const { ws, frames, send } = await socket();
    send({ op: "subscribe", topic: "session:ses_other" });
    send({ op: "subscribe", topic: "board:ses_other" });
    send({ op: "subscribe", topic: "everything" });
    ws.send("{");
    send({ op: "shout", topic: "me" });
    await expect
      .poll(() => frames.map((frame) => frame.code))
      .toEqual(
        expect.arrayContaining([
          ...Array.from({ length: 3 }, () => "not_found"),
          "invalid_frame",
          "invalid_frame",
        ]),
      );
    ws.close();
  });

  it("gives a late watcher the whole entry that is being written", async () => {
    const session = await platform.createSession();
    const early = await socket();
    early.send({ op: "subscribe", topic: `session:${session.id}`, after: 0 });
    const prompt = await platform.prompt(session.id, "stream 60 10");
    await platform.promptIn(prompt.id, "running");
    await expect
      .poll(() => early.frames.filter((frame) => frame.type === "delta").length)
      .toBeGreaterThan(2);
    const late = await socket();
    late.send({ op: "subscribe", topic: `session:${session.id}`, after: 0 });
    await expect
      .poll(() => late.frames.find((frame) => frame.type === "delta"))
      .toMatchObject({ offset: 0 });
    await platform.promptIn(prompt.id, "settled");
    early.ws.close();
    late.ws.close();
  });

  it("moves a slow reader back to its cursor instead of growing", async () => {
    const session = await platform.createSession({ runtime: "echo" });
    const slow = await stalledSocket(platform, `session:${session.id}`);
    const line = "x".repeat(200_000);
    let last = "";
    for (let i = 0; i < 60; i++) {
      last = (await platform.prompt(session.id, line)).id;
      await platform.promptIn(last, "settled");
    }
    const frames = await slow.readUntil(
      (frame) => frame.type === "prompt_settled" && frame.promptId === last,
    );
    const got = frames.flatMap((frame) => (frame.seq === undefined ? [] : [frame.seq]));
    const [first = 0] = got;
    expect(got).toEqual(got.map((_, i) => first + i));
    expect(frames.some((frame) => frame.op === "reset")).toBe(true);
    slow.close();
  });
});

/** A WebSocket client that does not read until it is told to. */
async function stalledSocket(platform: Platform, topic: string) {
  const ws = new WebSocket(`${platform.url.replace("http", "ws")}/api/live`, {
    headers: { authorization: `Bearer ${platform.key}` },
  });
  await new Promise((resolve) => ws.once("open", resolve));
  ws.send(JSON.stringify({ op: "subscribe", topic, after: 0 }));
  await new Promise((resolve) => ws.once("message", resolve));
  ws.pause();
  return {
    readUntil(done: (frame: Frame) => boolean): Promise<Frame[]> {
      const frames: Frame[] = [];
      return new Promise((resolve) => {
        ws.on("message", (data) => {
          const frame = JSON.parse(String(data)) as Frame;
          frames.push(frame);
          if (done(frame)) resolve(frames);
        });
        ws.resume();
      });
    },
    close: () => ws.terminate(),
  };
}
