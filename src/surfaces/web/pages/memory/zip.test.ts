import { expect, test } from "vitest";
import { crc32, readZip, writeZip } from "./zip.ts";

const ALL = { isWanted: () => true, maxFiles: 10, maxBytes: 1_000 };
const FILES = [
  { path: "general/a-1.md", content: "one\n" },
  { path: "préférence/ü.md", content: "zwei 🦦" },
];

test("what was written is read again, and the same files make the same archive", async () => {
  const zip = writeZip(FILES);
  expect(await readZip(zip, ALL)).toEqual(FILES);
  expect(writeZip(FILES)).toEqual(zip);
  expect(await readZip(writeZip([]), ALL)).toEqual([]);
});

test("has the sum that other programs look at", () => {
  expect(crc32(new TextEncoder().encode("123456789"))).toBe(0xcbf43926);
});

test("takes only what is wanted, and no more than it may", async () => {
  const zip = writeZip(FILES);
  const wanted = { ...ALL, isWanted: (path: string) => path.startsWith("gen") };
  expect(await readZip(zip, wanted)).toEqual(FILES.slice(0, 1));
  await expect(readZip(zip, { ...ALL, maxFiles: 1 })).rejects.toThrow("more than 1 files");
  const long = writeZip([{ path: "a.md", content: "x".repeat(5_000) }]);
  expect((await readZip(long, ALL))[0]?.content).toHaveLength(1_000);
});

test("reads what others have compressed, and stops where it would become too large", async () => {
  const zip = await deflated("a.md", "again and ".repeat(50_000));
  const [file] = await readZip(zip, { ...ALL, maxBytes: 20 });
  expect(file?.content.startsWith("again and again")).toBe(true);
  expect(file?.content.length).toBeLessThan(400_000);
  expect((await readZip(await deflated("b.md", "short"), ALL))[0]?.content).toBe("short");
});

test("refuses what is no archive, at whatever place it ends", async () => {
  const zip = writeZip(FILES);
  await expect(readZip(new Uint8Array(0), ALL)).rejects.toThrow();
  for (let length = 0; length < zip.length; length++)
    await expect(readZip(zip.slice(0, length), ALL)).rejects.toThrow();
});

/** An archive with one compressed file, by putting its bytes into one that has them as they are. */
async function deflated(path: string, content: string): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([content]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const packed = new Uint8Array(await new Response(stream).arrayBuffer());
  const plain = writeZip([{ path, content: "" }]);
  const name = new TextEncoder().encode(path).length;
  const cut = 30 + name;
  const zip = new Uint8Array(plain.length + packed.length);
  zip.set(plain.subarray(0, cut));
  zip.set(packed, cut);
  zip.set(plain.subarray(cut), cut + packed.length);
  const view = new DataView(zip.buffer);
  const central = cut + packed.length;
  view.setUint16(central + 10, 8, true);
  view.setUint32(central + 20, packed.length, true);
  view.setUint32(zip.length - 22 + 16, central, true);
  return zip;
}
