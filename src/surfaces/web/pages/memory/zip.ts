/** A folder as one file. What is read is bounded before it is unpacked. */
import { strFromU8, strToU8, unzipSync, type Zippable, zipSync } from "fflate";

export interface ZipFile {
  path: string;
  /** Null: it is longer than it may be. */
  content: string | null;
}

/** The same files make the same archive. */
const NO_DATE = "1980-01-01T00:00:00";
const NOT_A_ZIP = "This is no zip file that can be read here.";

export function writeZip(
  files: readonly { path: string; content: string }[],
): Uint8Array<ArrayBuffer> {
  const tree: Zippable = Object.fromEntries(
    files.map(({ path, content }) => [path, strToU8(content)]),
  );
  return new Uint8Array(zipSync(tree, { level: 0, mtime: NO_DATE }));
}

export interface ZipLimits {
  /** Others are not looked at. */
  isWanted: (path: string) => boolean;
  maxFiles: number;
  /** Of one file, however small it was made. */
  maxBytes: number;
}

export function readZip(bytes: Uint8Array, { isWanted, maxFiles, maxBytes }: ZipLimits): ZipFile[] {
  const tooLong: ZipFile[] = [];
  let count = 0;
  const isTaken = ({ name, originalSize }: { name: string; originalSize: number }) => {
    if (!isWanted(name)) return false;
    count++;
    if (count <= maxFiles && originalSize > maxBytes) tooLong.push({ path: name, content: null });
    return count <= maxFiles && originalSize <= maxBytes;
  };
  const found = unpack(bytes, isTaken);
  if (count > maxFiles) throw new Error(`There are more than ${maxFiles} files in it.`);
  const files = Object.entries(found).map(([path, file]) => ({ path, content: strFromU8(file) }));
  return [...files, ...tooLong];
}

function unpack(bytes: Uint8Array, filter: NonNullable<Parameters<typeof unzipSync>[1]>["filter"]) {
  try {
    return unzipSync(bytes, { ...(filter && { filter }) });
  } catch (error) {
    throw new Error(NOT_A_ZIP, { cause: error });
  }
}
