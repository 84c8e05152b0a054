/** Zip archives of a folder. Limits are checked before unpacking. */
import { strToU8, unzipSync, type Zippable, zipSync } from "fflate";

/** File content, or the reason why it cannot be imported. */
export type ReadFile = { path: string } & ({ content: string } | { reason: string });

export const TOO_LONG = "Too long for a memory.";
const NOT_TEXT = "Not UTF-8 text.";

/** Refuses files that are not valid UTF-8: with replaced bytes they would pass for text. */
export function readText(path: string, bytes: Uint8Array): ReadFile {
  try {
    const content = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return content.includes("\0") ? { path, reason: NOT_TEXT } : { path, content };
  } catch {
    return { path, reason: NOT_TEXT };
  }
}

/** Fixed date, so that the same files make the same archive. */
const NO_DATE = "1980-01-01T00:00:00";
const NOT_A_ZIP = "This ZIP archive cannot be read.";

export function writeZip(
  files: readonly { path: string; content: string }[],
): Uint8Array<ArrayBuffer> {
  const tree: Zippable = Object.fromEntries(
    files.map(({ path, content }) => [path, strToU8(content)]),
  );
  return new Uint8Array(zipSync(tree, { level: 0, mtime: NO_DATE }));
}

export interface ZipLimits {
  /** Other files are skipped. */
  isWanted: (path: string) => boolean;
  maxFiles: number;
  /** Limit per unpacked file. */
  maxBytes: number;
}

export function readZip(
  bytes: Uint8Array,
  { isWanted, maxFiles, maxBytes }: ZipLimits,
): ReadFile[] {
  const tooLong: ReadFile[] = [];
  let count = 0;
  const isTaken = ({ name, originalSize }: { name: string; originalSize: number }) => {
    if (!isWanted(name)) return false;
    count++;
    if (count <= maxFiles && originalSize > maxBytes)
      tooLong.push({ path: name, reason: TOO_LONG });
    return count <= maxFiles && originalSize <= maxBytes;
  };
  const found = unpack(bytes, isTaken);
  if (count > maxFiles) throw new Error(`There are more than ${maxFiles} files in it.`);
  const files = Object.entries(found).map(([path, file]) => readText(path, file));
  return [...files, ...tooLong];
}

function unpack(bytes: Uint8Array, filter: NonNullable<Parameters<typeof unzipSync>[1]>["filter"]) {
  try {
    return unzipSync(bytes, { ...(filter && { filter }) });
  } catch (error) {
    throw new Error(NOT_A_ZIP, { cause: error });
  }
}
