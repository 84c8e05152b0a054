/** Reads a stream to its end, and keeps no more of it than `maxChars`. */
import type { Readable } from "node:stream";

export async function collectText(
  stream: Readable,
  maxChars = 64 * 1024,
  encoding: BufferEncoding = "utf8",
): Promise<string> {
  const parts: string[] = [];
  let length = 0;
  stream.setEncoding(encoding);
  for await (const chunk of stream as AsyncIterable<string>) {
    if (length >= maxChars) continue;
    parts.push(chunk);
    length += chunk.length;
  }
  return parts.join("").slice(0, maxChars);
}
