import { strToU8, zipSync } from "fflate";
import { expect, test } from "vitest";
import { readZip, writeZip } from "./zip.ts";

const ALL = { isWanted: () => true, maxFiles: 10, maxBytes: 1_000 };
const FILES = [
  { path: "general/a-1.md", content: "one\n" },
  { path: "préférence/ü.md", content: "zwei 🦦" },
];

test("what was written is read again, and the same files make the same archive", () => {
  const zip = writeZip(FILES);
  expect(readZip(zip, ALL)).toEqual(FILES);
  expect(writeZip(FILES)).toEqual(zip);
  expect(readZip(writeZip([]), ALL)).toEqual([]);
});

test("takes only what is wanted, and no more than it may", () => {
  const zip = writeZip(FILES);
  const isWanted = (path: string) => path.startsWith("gen");
  expect(readZip(zip, { ...ALL, isWanted })).toEqual(FILES.slice(0, 1));
  expect(() => readZip(zip, { ...ALL, maxFiles: 1 })).toThrow("more than 1 files");
});

test("does not unpack what would become too large", () => {
  const zip = zipSync({ "a.md": strToU8("again and ".repeat(50_000)), "b.md": strToU8("short") });
  expect(readZip(zip, ALL)).toEqual([
    { path: "b.md", content: "short" },
    { path: "a.md", reason: "Too long for a memory." },
  ]);
});

test("a file that says it is small becomes no larger than it says", () => {
  const zip = zipSync({ "a.md": strToU8("again and ".repeat(50_000)) });
  const view = new DataView(zip.buffer, zip.byteOffset, zip.length);
  // Set the size in the central directory and in the local header.
  const end = zip.length - 22;
  view.setUint32(view.getUint32(end + 16, true) + 24, 20, true);
  view.setUint32(22, 20, true);
  let content = "";
  try {
    const [first] = readZip(zip, ALL);
    content = first && "content" in first ? first.content : "";
  } catch (error) {
    expect(String(error)).toContain("cannot be read");
  }
  expect(content.length).toBeLessThanOrEqual(20);
});

test("refuses what is no archive, at whatever place it ends", () => {
  const zip = writeZip(FILES);
  for (let length = 0; length < zip.length; length++)
    expect(() => readZip(zip.slice(0, length), ALL)).toThrow("cannot be read");
});

test("says which file is no text, and takes the others", () => {
  const zip = zipSync({
    "a.md": new Uint8Array([0x68, 0xff, 0xfe]),
    "b.md": strToU8("zwei"),
    "c.md": new Uint8Array([0x68, 0]),
  });
  const reason = "Not UTF-8 text.";
  expect(readZip(zip, ALL)).toEqual([
    { path: "a.md", reason },
    { path: "b.md", content: "zwei" },
    { path: "c.md", reason },
  ]);
});
