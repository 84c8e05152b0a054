/**
 * A WebSocket client that only counts: a library that decodes every frame would itself be the
 * bottleneck.
 */
import { connect, type Socket } from "node:net";

export interface Counts {
  frames: number;
  bytes: number;
}

export interface LiveSocket {
  send(text: string): void;
  /** Stops reading until `close`. */
  stall(): void;
  close(): void;
}

export function openLiveSocket(
  address: { port: number; path: string; key: string },
  counts: Counts,
): Promise<LiveSocket> {
  const { port, path, key } = address;
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    socket.setNoDelay(true);
    socket.on("error", reject);
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${key}\r\n` +
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n" +
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
    );
    const count = frameCounter(counts);
    let head = Buffer.alloc(0);
    const onHead = (chunk: Buffer) => {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf("\r\n\r\n");
      if (end < 0) return;
      socket.off("data", onHead);
      if (!head.subarray(0, end).includes(" 101 "))
        return reject(new Error(head.subarray(0, end).toString()));
      count(head.subarray(end + 4));
      socket.on("data", count);
      resolve(handle(socket));
    };
    socket.on("data", onHead);
  });
}

function handle(socket: Socket): LiveSocket {
  return {
    send: (text) => socket.write(maskedFrame(text)),
    stall: () => socket.pause(),
    close: () => socket.destroy(),
  };
}

/** A client must mask; a mask of zeros leaves the text as it is. */
function maskedFrame(text: string): Buffer {
  const body = Buffer.from(text);
  const head =
    body.length < 126
      ? Buffer.from([0x81, 0x80 | body.length])
      : Buffer.from([0x81, 0x80 | 126, body.length >> 8, body.length & 255]);
  return Buffer.concat([head, Buffer.alloc(4), body]);
}

function frameCounter(counts: Counts): (chunk: Buffer) => void {
  let skip = 0;
  let rest: Buffer | undefined;
  return (chunk) => {
    counts.bytes += chunk.length;
    const bytes = rest ? Buffer.concat([rest, chunk]) : chunk;
    rest = undefined;
    let at = skip;
    for (let length = frameLength(bytes, at); length > 0; length = frameLength(bytes, at)) {
      counts.frames++;
      at += length;
    }
    skip = Math.max(0, at - bytes.length);
    if (at < bytes.length) rest = bytes.subarray(at);
  };
}

/** The length of the frame at this offset, or 0 when its head is incomplete. */
function frameLength(bytes: Buffer, at: number): number {
  if (at + 2 > bytes.length) return 0;
  const short = (bytes[at + 1] as number) & 127;
  if (short < 126) return 2 + short;
  if (short === 126) return at + 4 > bytes.length ? 0 : 4 + bytes.readUInt16BE(at + 2);
  return at + 10 > bytes.length ? 0 : 10 + Number(bytes.readBigUInt64BE(at + 2));
}
