/** Jobs of the load process, and their results. */
import type { Target } from "../contenders.ts";

export type Job =
  | {
      kind: "sessions";
      target: Target;
      count: number;
      runtime?: string;
      /** `provider/model` */
      model?: string;
      parentSessionId?: string;
    }
  /**
   * Children settle one after the other, each after the parent of the previous one was notified.
   */
  | { kind: "wakes"; target: Target; families: ParentWithChildren[]; turns: number }
  /**
   * Every session sends a prompt, waits for its settlement, and sends the next, for a time or a
   * number of turns.
   */
  | {
      kind: "turns";
      target: Target;
      sessions: string[];
      content: string;
      forMs?: number;
      turnsEach?: number;
      /** Pause between a settlement and the next prompt; none by default. */
      pauseMs?: number;
      /** Number of concurrent sessions; all by default. */
      atOnce?: number;
    }
  /** As many calls of the model itself as there would be turns, each a stream read to its end. */
  | {
      kind: "calls";
      port: number;
      model: string;
      content: string;
      sessions: number;
      turnsEach: number;
      atOnce?: number;
    }
  /** Clients send prompts to sessions in turn and wait for the acknowledgement only. */
  | { kind: "acks"; target: Target; sessions: string[]; clients: number; forMs: number }
  /**
   * Sockets that follow sessions; arriving events are counted while the sessions work on their
   * prompts.
   */
  | {
      kind: "fanout";
      target: Target;
      sockets: number;
      sessions: string[];
      content: string;
      warmMs: number;
      forMs: number;
    }
  /** The same against the bare broadcast. */
  | {
      kind: "broadcast";
      port: number;
      sockets: number;
      frameBytes: number;
      warmMs: number;
      forMs: number;
    }
  /** Sockets that follow a session and read nothing, until `release`. */
  | { kind: "stall"; target: Target; sockets: number; sessionId: string }
  | { kind: "release" }
  /** Bytes sent to one viewer of a turn. */
  | { kind: "viewer"; target: Target; sessionId: string; content: string };

export interface ParentWithChildren {
  parent: string;
  children: string[];
}

export interface TurnResult {
  turns: number;
  elapsedMs: number;
  firstDeltaMs: { p50: number; p95: number };
  settledMs: { p50: number; p95: number; p99: number };
}

export interface FanoutResult {
  deliveriesPerSecond: number;
  bytesPerFrame: number;
}

export interface JobResults {
  sessions: string[];
  turns: TurnResult;
  calls: TurnResult;
  wakes: { turns: number };
  acks: { acksPerSecond: number; p50Ms: number };
  fanout: FanoutResult;
  broadcast: FanoutResult;
  stall: Record<string, never>;
  release: Record<string, never>;
  viewer: { bytes: number; deltas: number };
}
