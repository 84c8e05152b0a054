/**
 * The bus carries hints: ids, wake-ups and deltas, never the truth. A lost message costs latency
 * only; the database and the sweeps make up for it. Handlers must not throw and must be quick.
 */
export type BusMessage = Readonly<Record<string, unknown>>;
export type BusHandler = (message: BusMessage) => void;

export interface Bus {
  /** Never blocks and never fails. Delivery is best effort, in order per publisher and topic. */
  publish(topic: string, message: BusMessage): void;
  /** Returns the function that ends the subscription. */
  subscribe(topic: string, handler: BusHandler): () => void;
  close(): Promise<void>;
}
