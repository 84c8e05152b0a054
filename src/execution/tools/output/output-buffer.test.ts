import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { OutputBuffer, TailBuffer } from "./output-buffer.ts";

const folder = mkdtempSync(join(tmpdir(), "muster-output-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

async function feed(chunks: readonly Buffer[], options = {}) {
  const path = join(folder, String(++files));
  const openSpill = async () => ({ file: await open(path, "wx"), path });
  const buffer = new OutputBuffer({ headBytes: 20, tailBytes: 20, openSpill, ...options });
  for (const chunk of chunks) await buffer.write(chunk);
  return { ...(await buffer.finish()), path };
}

describe("an output buffer", () => {
  it("gives short output as it is, and makes no file", async () => {
    expect(await feed([Buffer.from("a".repeat(39)), Buffer.from("b")])).toMatchObject({
      text: `${"a".repeat(39)}b`,
      bytes: 40,
      spilled: null,
    });
  });

  it("keeps beginning and end of long output, between lines, and the whole in a file", async () => {
    const all = Array.from({ length: 50 }, (_, i) => `line ${i}\n`).join("");
    const chunks = [all.slice(0, 30), all.slice(30, 41), all.slice(41)].map((s) => Buffer.from(s));
    const { text, spilled, path } = await feed(chunks);
    expect(text).toBe(
      `line 0\nline 1\n\n[… ${all.length - 14 - 16} of ${all.length} bytes left out; all of it can be read in ${path} …]\nline 48\nline 49\n`,
    );
    expect(spilled).toEqual({ path, bytes: all.length });
    expect(readFileSync(path, "utf8")).toBe(all);
  });

  it("stops spilling at the limit, and says so", async () => {
    const { text, spilled, path, bytes } = await feed([Buffer.alloc(100, "x")], { spillBytes: 70 });
    expect({ bytes, spilled }).toEqual({ bytes: 100, spilled: { path, bytes: 70 } });
    expect(text).toContain("the first 70 bytes of it can be read");
    expect(readFileSync(path).length).toBe(70);
  });

  it("goes on without a file when there cannot be one, or the disk is full", async () => {
    const chunk = Buffer.alloc(100, "x");
    const none = await feed([chunk], { openSpill: () => Promise.reject(new Error("no")) });
    expect(none).toMatchObject({ bytes: 100, spilled: null });
    expect(none.text).toContain("60 of 100 bytes left out …");
    const openSpill = async () => ({ file: await open("/dev/full", "w"), path: "full" });
    const full = await feed([chunk, chunk], { openSpill });
    expect(full.text).toContain("160 of 200 bytes left out; the first 0 bytes");
  });

  it("shows whole characters and loses no byte of the file, however the pieces fall", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: "binary", maxLength: 30 }), { maxLength: 12 }),
        fc.array(fc.nat(40), { maxLength: 20 }),
        async (texts, cuts) => {
          const all = Buffer.from(texts.join("€"));
          const chunks: Buffer[] = [];
          let at = 0;
          for (const cut of cuts) {
            chunks.push(all.subarray(at, at + cut));
            at = Math.min(all.length, at + cut);
          }
          chunks.push(all.subarray(at));
          const { text, spilled, path, bytes } = await feed(chunks);
          expect(bytes).toBe(all.length);
          if (spilled) expect(readFileSync(path).equals(all)).toBe(true);
          else expect(text).toBe(all.toString());
          const inserted = (text.match(/\ufffd/g) ?? []).length;
          expect(inserted).toBeLessThanOrEqual((all.toString().match(/\ufffd/g) ?? []).length);
        },
      ),
      { numRuns: 200 },
    );
  });

  it("closes its file", async () => {
    let file: FileHandle | undefined;
    const openSpill = async () => {
      file = await open(join(folder, "closed"), "w");
      return { file, path: "" };
    };
    await feed([Buffer.alloc(100)], { openSpill });
    expect(file?.fd).toBe(-1);
  });
});

describe("a tail buffer", () => {
  it("gives what is new, and says what was lost", () => {
    const tail = new TailBuffer(10);
    tail.push(Buffer.from("abc"));
    expect(tail.take(false)).toEqual({ text: "abc", droppedBytes: 0 });
    expect(tail.take(false)).toEqual({ text: "", droppedBytes: 0 });
    tail.push(Buffer.from("0123456789"));
    tail.push(Buffer.from("xy"));
    expect(tail.take(false)).toEqual({ text: "23456789xy", droppedBytes: 2 });
    tail.push(Buffer.from(`${"z".repeat(100)}end`));
    expect(tail.take(false)).toEqual({ text: "zzzzzzzend", droppedBytes: 93 });
  });

  it("waits for the rest of a character, unless there is none to come", () => {
    const tail = new TailBuffer(10);
    tail.push(Buffer.from([0x61, 0xe2, 0x82]));
    expect(tail.take(false).text).toBe("a");
    tail.push(Buffer.from([0xac]));
    expect(tail.take(false).text).toBe("€");
    tail.push(Buffer.from([0xe2]));
    expect(tail.take(true).text).toBe("\ufffd");
  });
});
