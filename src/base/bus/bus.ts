/**
 * The bus carries hints: ids, wake-ups and deltas, never truth. A lost message costs latency; the
 * database and the sweeps make it good. Handlers must not throw and must be quick.
 */
export type BusMessage = Readonly<Record<string, unknown>>;
export type BusHandler = (message: BusMessage) => void;

export interface Bus {
  /** Never waits and never fails; delivery is best effort, in order for each publisher and topic. */
  publish(topic: string, message: BusMessage): void;
  /** Returns the function that ends the subscription. */
  subscribe(topic: string, handler: BusHandler): () => void;
  close(): Promise<void>;
}
