/** What the load process can be asked to do, and what it answers. */
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
  /** Children settle one after the other, each when the parent of the one before has been told. */
  | { kind: "wakes"; target: Target; families: Family[]; turns: number }
  /** Every session sends a prompt, waits for its settlement, and sends the next, for a while or so often. */
  | {
      kind: "turns";
      target: Target;
      sessions: string[];
      content: string;
      forMs?: number;
      turnsEach?: number;
      /** Between a settlement and the next prompt; none when it is not said. */
      pauseMs?: number;
      /** How many sessions at the same time; all when it is not said. */
      atOnce?: number;
    }
  /** The same number of turns as calls of the model itself, each a stream read to its end. */
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
  /** Sockets that follow sessions; what arrives is counted while the sessions work their prompts. */
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
  /** What one viewer of a turn is sent. */
  | { kind: "viewer"; target: Target; sessionId: string; content: string };

export interface Family {
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
