/** The process of the bench's model. */
import { fork } from "node:child_process";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

export interface ModelCounts {
  /**
   * Milliseconds from each answer with a tool call to the request with its result, since the last
   * reading.
   */
  steps: number[];
  /**
   * Milliseconds from each answer of a child's model to the request of its parent's, since the last
   * reading.
   */
  wakes: number[];
  requests: number;
  /** Requests that wait for `release`. */
  held: number;
}

export interface ModelProcess {
  port: number;
  counts(): Promise<ModelCounts>;
  /** Answers the held requests. */
  release(): void;
  end(): void;
}

export async function startModel(): Promise<ModelProcess> {
  const child = fork(join(import.meta.dirname, "model-server.ts"), { stdio: "inherit" });
  const next = <T>() => new Promise<T>((resolve) => child.once("message", resolve));
  const { port } = await next<AddressInfo>();
  return {
    port,
    counts() {
      const answered = next<ModelCounts>();
      child.send("counts");
      return answered;
    },
    release: () => child.send("release"),
    end: () => child.kill(),
  };
}
