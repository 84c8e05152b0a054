/**
 * Detects the type of a file or a download by its first bytes. Names and headers can claim
 * anything.
 */

export const MAX_IMAGE_BYTES = 5 * 1024 ** 2;
/** Bytes of the beginning that are enough to tell. */
export const SNIFF_BYTES = 8192;

const IMAGES: readonly { mediaType: string; is: (bytes: Buffer) => boolean }[] = [
  { mediaType: "image/png", is: (b) => startsWith(b, "\x89PNG\r\n\x1a\n") },
  { mediaType: "image/jpeg", is: (b) => startsWith(b, "\xff\xd8\xff") },
  { mediaType: "image/gif", is: (b) => startsWith(b, "GIF87a") || startsWith(b, "GIF89a") },
  {
    mediaType: "image/webp",
    is: (b) => startsWith(b, "RIFF") && b.toString("latin1", 8, 12) === "WEBP",
  },
];

const OTHERS: readonly [start: string, type: string][] = [
  ["%PDF-", "a PDF document"],
  ["PK\x03\x04", "a zip archive"],
  ["\x1f\x8b", "gzip data"],
  ["BZh", "bzip2 data"],
  ["\xfd7zXZ\0", "xz data"],
  ["\x28\xb5\x2f\xfd", "zstd data"],
  ["\x7fELF", "an ELF program"],
  ["SQLite format 3\0", "an SQLite database"],
  ["\0asm", "a WebAssembly module"],
  ["\xff\xfe", "UTF-16 text; convert it with iconv to read it"],
  ["\xfe\xff", "UTF-16 text; convert it with iconv to read it"],
];

/** Media type of an image that models can look at, or null. */
export function imageTypeOf(bytes: Buffer): string | null {
  return IMAGES.find(({ is }) => is(bytes))?.mediaType ?? null;
}

/** Type in words, when it is not text; null when it seems to be. */
export function binaryTypeOf(bytes: Buffer): string | null {
  const known = OTHERS.find(([start]) => startsWith(bytes, start));
  if (known) return known[1];
  return bytes.subarray(0, SNIFF_BYTES).includes(0) ? "unknown binary data" : null;
}

function startsWith(bytes: Buffer, start: string): boolean {
  return bytes.toString("latin1", 0, start.length) === start;
}
