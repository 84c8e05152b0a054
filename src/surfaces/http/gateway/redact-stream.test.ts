import { describe, expect, it } from "vitest";
import { redactStream } from "./redact-stream.ts";

const SECRET = "canary-key-of-otters";

async function passed(pieces: readonly string[], secret: string | null = SECRET): Promise<string> {
  const stream = redactStream(secret === null ? [] : [secret]);
  for (const piece of pieces) stream.write(piece);
  stream.end();
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe("a stream without its secret", () => {
  it("is the same in however many pieces it comes", async () => {
    const text = `ä before ${SECRET} between ${SECRET}${SECRET} canary-key-of-ott`;
    const safe = "ä before [redacted] between [redacted][redacted] canary-key-of-ott";
    expect(await passed([text])).toBe(safe);
    expect(await passed([...text])).toBe(safe);
    for (let at = 1; at < text.length; at++)
      expect(await passed([text.slice(0, at), text.slice(at)])).toBe(safe);
  });

  it("knows other ways to write it", async () => {
    for (const form of [
      Buffer.from(`user:${SECRET}`).toString("base64"),
      Buffer.from(SECRET).toString("hex"),
    ])
      expect(await passed([form.slice(0, 9), form.slice(9)])).toContain("[redacted]");
  });

  it("holds back only what could be its beginning", () => {
    const stream = redactStream([SECRET]);
    stream.write("some words");
    expect(String(stream.read())).toBe("some words");
    stream.write("more can");
    expect(String(stream.read())).toBe("more ");
    stream.write("dles");
    expect(String(stream.read())).toBe("candles");
  });

  it("changes nothing without a secret, or with one too short to distinguish from words", async () => {
    expect(await passed(["a", SECRET], null)).toBe(`a${SECRET}`);
    expect(await passed(["the key"], "key")).toBe("the key");
  });
});
