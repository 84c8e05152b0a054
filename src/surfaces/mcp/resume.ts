/**
 * Resumable streams without stored state. A stream begins with a priming event whose id contains the call
 * itself; a client that lost the stream sends the id back with GET, and the call is made again (`mayRepeat`).
 * That is safe because repeated calls are recognised by client, id and arguments: a performed call returns
 * its result, a pending one is waited for again.
 */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { Messages } from "./messages.ts";
import type { Toolbox } from "./toolbox.ts";

/** Milliseconds after which a client that lost its stream reconnects. */
const RETRY_MS = 1_000;
/** Clients of earlier versions parse every event as a message, and fail at an empty one. */
const FIRST_VERSION = "2025-11-25";
const FORM = "m1.";
/** Headers of a request are limited to 16 KB in all. */
const MAX_ID_CHARS = 6_000;
const MAX_BODY_CHARS = 32_000;
/** Id of a call that must not be repeated: a reconnect is refused. */
const ONCE = "once";

/** Undefined for clients that do not know priming events. `isRepeatable`: see above. */
export function primingEvent(
  body: unknown,
  { version, isRepeatable }: { version: string | undefined; isRepeatable: boolean },
): string | undefined {
  if (version === undefined || version < FIRST_VERSION) return undefined;
  const id = isRepeatable ? (idOf(JSON.stringify(body)) ?? ONCE) : ONCE;
  return `id: ${id}\nretry: ${RETRY_MS}\ndata: \n\n`;
}

function idOf(text: string): string | undefined {
  if (text.length > MAX_BODY_CHARS) return undefined;
  const id = `${FORM}${deflateRawSync(text).toString("base64url")}`;
  return id.length <= MAX_ID_CHARS ? id : undefined;
}

/**
 * True when repeating these calls does nothing twice. A repeated call is recognised by the name of its
 * client, so without one it never is.
 */
export function mayRepeat(
  { isBatch, hasCalls, called }: Messages,
  clientId: string | undefined,
  toolbox: Pick<Toolbox, "isRepeatable">,
): boolean {
  if (clientId === undefined || isBatch || !hasCalls) return false;
  return called.every((name) => toolbox.isRepeatable(name));
}

/** Returns the request in an event id; undefined for one that cannot be resumed. */
export function resumedBody(eventId: string): Buffer | undefined {
  if (!eventId.startsWith(FORM) || eventId.length > MAX_ID_CHARS) return undefined;
  try {
    const packed = Buffer.from(eventId.slice(FORM.length), "base64url");
    return inflateRawSync(packed, { maxOutputLength: MAX_BODY_CHARS * 4 });
  } catch {
    return undefined;
  }
}
