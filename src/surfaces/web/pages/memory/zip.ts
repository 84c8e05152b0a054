/**
 * A folder as one file: archives in the zip format, written without compression, and read with or
 * without. Only as much of the format as this needs; whatever is strange is refused.
 */
export interface ZipFile {
  path: string;
  content: string;
}

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const LOCAL_BYTES = 30;
const CENTRAL_BYTES = 46;
const END_BYTES = 22;
const VERSION = 20;
/** Names are UTF-8. */
const FLAGS = 0x0800;
/** 1 January 1980: the same files make the same archive. */
const NO_DATE = 0x0021;
const STORED = 0;
const DEFLATED = 8;

export function writeZip(files: readonly ZipFile[]): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder();
  const locals: Uint8Array[] = [];
  const centrals: Uint8Array[] = [];
  let offset = 0;
  for (const { path, content } of files) {
    const name = text.encode(path);
    const bytes = text.encode(content);
    const facts = [VERSION, FLAGS, STORED, 0, NO_DATE];
    const sizes = [crc32(bytes), bytes.length, bytes.length];
    const local = record(LOCAL, facts, sizes, [name.length, 0]);
    const more = { shorts: [name.length, 0, 0, 0, 0], longs: [0, offset] };
    const central = record(CENTRAL, [VERSION, ...facts], sizes, more.shorts, more.longs);
    locals.push(local, name, bytes);
    centrals.push(central, name);
    offset += local.length + name.length + bytes.length;
  }
  const size = centrals.reduce((sum, { length }) => sum + length, 0);
  const count = files.length;
  const end = record(END, [0, 0, count, count], [size, offset], [0]);
  return joined([...locals, ...centrals, end]);
}

/** Numbers as the format has them: a mark, then shorts, longs, shorts and longs. */
function record(
  mark: number,
  shorts: readonly number[],
  longs: readonly number[],
  moreShorts: readonly number[],
  moreLongs: readonly number[] = [],
): Uint8Array {
  const view = new DataView(
    new ArrayBuffer(
      4 + 2 * (shorts.length + moreShorts.length) + 4 * (longs.length + moreLongs.length),
    ),
  );
  let at = 0;
  const put4 = (value: number) => {
    view.setUint32(at, value, true);
    at += 4;
  };
  const put2 = (value: number) => {
    view.setUint16(at, value, true);
    at += 2;
  };
  put4(mark);
  shorts.forEach(put2);
  longs.forEach(put4);
  moreShorts.forEach(put2);
  moreLongs.forEach(put4);
  return new Uint8Array(view.buffer);
}

function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}

const NOT_A_ZIP = "This is no zip file that can be read here.";

export interface ZipLimits {
  /** Others are not looked at. */
  isWanted: (path: string) => boolean;
  maxFiles: number;
  /** Of one file, however small it was made. */
  maxBytes: number;
}

export async function readZip(
  bytes: Uint8Array<ArrayBuffer>,
  limits: ZipLimits,
): Promise<ZipFile[]> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const { count, start } = findEnd(view);
  const files: ZipFile[] = [];
  let at = start;
  for (let n = 0; n < count; n++) {
    if (at + CENTRAL_BYTES > bytes.length || view.getUint32(at, true) !== CENTRAL)
      throw new Error(NOT_A_ZIP);
    const nameBytes = view.getUint16(at + 28, true);
    const path = new TextDecoder().decode(
      bytes.subarray(at + CENTRAL_BYTES, at + CENTRAL_BYTES + nameBytes),
    );
    if (limits.isWanted(path)) {
      if (files.length === limits.maxFiles)
        throw new Error(`There are more than ${limits.maxFiles} files in it.`);
      files.push({ path, content: await contentAt(bytes, view, at, limits.maxBytes) });
    }
    at += CENTRAL_BYTES + nameBytes + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return files;
}

/** The last record, behind which only a comment may stand. */
function findEnd(view: DataView): { count: number; start: number } {
  const least = Math.max(0, view.byteLength - END_BYTES - 0xffff);
  for (let at = view.byteLength - END_BYTES; at >= least; at--)
    if (view.getUint32(at, true) === END)
      return { count: view.getUint16(at + 10, true), start: view.getUint32(at + 16, true) };
  throw new Error(NOT_A_ZIP);
}

async function contentAt(
  bytes: Uint8Array<ArrayBuffer>,
  view: DataView,
  central: number,
  maxBytes: number,
): Promise<string> {
  const method = view.getUint16(central + 10, true);
  const packed = view.getUint32(central + 20, true);
  const local = view.getUint32(central + 42, true);
  if (local + LOCAL_BYTES > bytes.length || view.getUint32(local, true) !== LOCAL)
    throw new Error(NOT_A_ZIP);
  const from =
    local + LOCAL_BYTES + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
  const piece = bytes.subarray(from, from + packed);
  if (method === STORED) return new TextDecoder().decode(piece.subarray(0, maxBytes));
  if (method !== DEFLATED) throw new Error(NOT_A_ZIP);
  return new TextDecoder().decode(await inflated(piece, maxBytes));
}

/** No more than that, whatever it would become. */
async function inflated(piece: Uint8Array<ArrayBuffer>, maxBytes: number): Promise<Uint8Array> {
  const stream = new Blob([piece]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const reader = stream.getReader();
  const pieces: Uint8Array[] = [];
  let size = 0;
  while (size < maxBytes) {
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value);
    size += value.length;
  }
  void reader.cancel();
  return joined(pieces);
}
