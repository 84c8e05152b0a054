/**
 * What the server hints at: "this has changed, look again". Nothing is replayed after a lost
 * connection, so whoever listens looks at everything again whenever it is `connected`.
 */
import type { WebSocket } from "ws";
import { systemClock } from "#base/clock.ts";
import { LIVE_PATH } from "#protocol/live-path.ts";
import type { Api } from "./api.ts";
import { isRecord } from "./server-refusal.ts";

const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 5_000;
/** The server sends a ping every 20 s; a line without any may be dead without knowing it. */
const SILENCE_MS = 50_000;

export type Hinted =
  | { type: "connected" }
  | { type: "away" }
  | { type: "hint"; kind: string; id: string };

/** Goes on until the signal: a hint is never worth giving up for. */
export async function followHints(
  api: Api,
  tell: (hinted: Hinted) => void,
  signal: AbortSignal,
): Promise<void> {
  let pauseMs = FIRST_PAUSE_MS;
  while (!signal.aborted) {
    const hasWorked = await listenOnce(api.socket(LIVE_PATH), tell, signal);
    if (signal.aborted) return;
    tell({ type: "away" });
    pauseMs = hasWorked ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, MAX_PAUSE_MS);
    await systemClock.sleep(pauseMs, signal);
  }
}

/** One connection, until it ends; whether it was ever good. */
async function listenOnce(
  socket: WebSocket,
  tell: (hinted: Hinted) => void,
  signal: AbortSignal,
): Promise<boolean> {
  let hasWorked = false;
  const end = () => socket.terminate();
  const watchdog = setTimeout(end, SILENCE_MS);
  signal.addEventListener("abort", end);
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  // An error is followed by the close that is waited for.
  socket.on("error", () => {});
  socket.on("ping", () => watchdog.refresh());
  socket.on("open", () => socket.send(JSON.stringify({ op: "subscribe", topic: "me" })));
  socket.on("message", (data) => {
    watchdog.refresh();
    const hinted = parse(String(data));
    if (hinted?.type === "connected") hasWorked = true;
    if (hinted) tell(hinted);
  });
  try {
    if (signal.aborted) end();
    await closed;
  } finally {
    clearTimeout(watchdog);
    signal.removeEventListener("abort", end);
  }
  return hasWorked;
}

function parse(text: string): Hinted | undefined {
  let frame: unknown;
  try {
    frame = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(frame) || frame.topic !== "me") return undefined;
  if (frame.op === "subscribed") return { type: "connected" };
  return typeof frame.type === "string" && typeof frame.id === "string"
    ? { type: "hint", kind: frame.type, id: frame.id }
    : undefined;
}
