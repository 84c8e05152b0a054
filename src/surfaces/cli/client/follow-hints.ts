/**
 * Follows the server's hints that something has changed. Nothing is replayed after a lost connection, so a
 * listener refreshes everything whenever it is `connected`.
 */
import type { WebSocket } from "ws";
import { systemClock } from "#base/clock.ts";
import { isRecord } from "#client/index.ts";
import { LIVE_PATH } from "#protocol/live-path.ts";
import type { Api } from "./api.ts";

const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 5_000;
/** The server pings every 20 s; a connection without pings may be dead unnoticed. */
const SILENCE_MS = 50_000;

export type Hinted =
  | { type: "connected" }
  | { type: "away" }
  | { type: "hint"; kind: string; id: string };

/** Follows until the signal aborts: no failure of hints is worth ending for. */
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

/** Runs one connection until it ends; true if it ever opened. */
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
  // A close follows every error, and the close is awaited.
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
