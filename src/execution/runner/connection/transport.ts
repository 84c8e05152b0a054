/**
 * The transport between a runner and its server: one connection that carries frames in order, both
 * ways. Over a network it is a WebSocket; in one process it is a pair of queues.
 */
import type { RunnerFrame, ServerFrame } from "#protocol/frames.ts";

export interface ConnectionEvents {
  frame(frame: ServerFrame): void;
  /** Called exactly once for each opened connection; no frame follows it. */
  closed(reason: string): void;
}

export interface Connection {
  /** Must not throw: a frame that cannot be sent is lost with its connection. */
  send(frame: RunnerFrame): void;
  /** True while so much waits to be sent that optional frames should be skipped. */
  readonly congested: boolean;
  /**
   * The instant, on the runner's clock, of the latest ping that the peer has answered: everything
   * that arrives was sent after it. Absent where frames cannot be in transit for long.
   */
  provenAt?(): number;
  close(): void;
}

export interface Transport {
  /**
   * Rejects with a `Refusal` when trying again is pointless (a bad token, say), with any other
   * error when the server cannot be reached now.
   */
  open(events: ConnectionEvents): Promise<Connection>;
}
