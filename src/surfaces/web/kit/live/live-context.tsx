import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useState,
  useSyncExternalStore,
} from "react";
import { LIVE_PATH } from "#protocol/live-path.ts";
import { liveProtocols } from "#protocol/page-key.ts";
import { pageKey } from "../api/page-key.ts";
import { type Connection, LiveClient, type Socket } from "./live-client.ts";

const LiveContext = createContext<LiveClient | undefined>(undefined);

function openSocket(): Socket {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const url = `${scheme}//${location.host}${LIVE_PATH}`;
  return new WebSocket(url, liveProtocols(pageKey())) as unknown as Socket;
}

function createClient(): LiveClient {
  return new LiveClient({
    open: openSocket,
    setTimer: (run, afterMs) => window.setTimeout(run, afterMs),
    clearTimer: (timer) => window.clearTimeout(timer as number | undefined),
    random: Math.random,
  });
}

/** Opens the page's only socket and keeps it open while somebody is signed in. */
export function LiveProvider({ children }: { children: ReactNode }) {
  const [client] = useState(createClient);
  useEffect(() => {
    const retry = () => {
      if (document.visibilityState === "visible") client.retryNow();
    };
    client.start();
    window.addEventListener("online", retry);
    document.addEventListener("visibilitychange", retry);
    return () => {
      window.removeEventListener("online", retry);
      document.removeEventListener("visibilitychange", retry);
      client.stop();
    };
  }, [client]);
  return <LiveContext value={client}>{children}</LiveContext>;
}

export function useLive(): LiveClient {
  const client = useContext(LiveContext);
  if (client === undefined) throw new Error("useLive needs a LiveProvider above it");
  return client;
}

export function useConnection(): Connection {
  const client = useLive();
  return useSyncExternalStore(client.onConnectionChange, () => client.connection);
}
