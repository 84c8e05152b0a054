import { clsx } from "clsx";
import type { Connection } from "./live/live-client.ts";
import { useConnection } from "./live/live-context.tsx";

const WORDS: Record<Connection, string> = {
  connecting: "Connecting",
  live: "Live",
  reconnecting: "Reconnecting",
  offline: "Offline",
};

const LOOKS: Record<Connection, string> = {
  connecting: "text-ink-faint",
  live: "text-ink-faint",
  reconnecting: "bg-warn-soft text-warn",
  offline: "bg-bad-soft text-bad",
};

const DOTS: Record<Connection, string> = {
  connecting: "bg-line-strong animate-breathe",
  live: "bg-accent",
  reconnecting: "bg-warn animate-breathe",
  offline: "bg-bad",
};

/** Shows if the page is connected, and so up to date. */
export function ConnectionMark() {
  const connection = useConnection();
  return (
    <span
      role="status"
      aria-label={`Connection: ${WORDS[connection]}`}
      data-testid="connection"
      data-connection={connection}
    >
      <Badge connection={connection} />
    </span>
  );
}

/** Shows connection problems only, for places with little room. */
export function ConnectionTrouble() {
  const connection = useConnection();
  const isTrouble = connection === "reconnecting" || connection === "offline";
  return isTrouble ? <Badge connection={connection} /> : null;
}

function Badge({ connection }: { connection: Connection }) {
  return (
    <span
      className={clsx(
        "flex items-center gap-1.5 rounded-full px-1.5 py-0.5 text-2xs",
        LOOKS[connection],
      )}
    >
      <span aria-hidden className={clsx("size-1.5 rounded-full", DOTS[connection])} />
      {WORDS[connection]}
    </span>
  );
}
