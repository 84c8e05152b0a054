/** Prometheus figures. Loaded when they are first asked for, so an idle server does not carry them. */
import type { Kernel } from "#engine/index.ts";
import { readyBacklog } from "#engine/runs/index.ts";

export type Metrics = {
  text(): Promise<{ type: string; body: string }>;
  observe(method: string, status: number): void;
};

export function createMetrics(
  kernel: Kernel,
  now: () => number,
  countUntrusted: () => number,
): Metrics {
  const requests = new Map<string, number>();
  let registry: Promise<import("prom-client").Registry> | undefined;

  async function build(): Promise<import("prom-client").Registry> {
    const module = await import("prom-client");
    // Bundled, a CommonJS package has everything under its default.
    const { collectDefaultMetrics, Counter, Gauge, Registry } = module.default ?? module;
    const made = new Registry();
    collectDefaultMetrics({ register: made, prefix: "muster_" });
    new Counter({
      name: "muster_http_requests_total",
      help: "Requests answered, by method and status",
      labelNames: ["method", "status"],
      registers: [made],
      collect() {
        this.reset();
        for (const [key, count] of requests) {
          const [method = "", status = ""] = key.split(" ");
          this.inc({ method, status }, count);
        }
      },
    });
    new Counter({
      name: "muster_untrusted_forwarded_requests_total",
      help: "Requests with forwarded headers of a proxy that MUSTER_TRUSTED_PROXY does not name",
      registers: [made],
      collect() {
        this.reset();
        this.inc(countUntrusted());
      },
    });
    const backlog = () => kernel.engine.store.read((reader) => readyBacklog(reader, now()));
    new Gauge({
      name: "muster_runs_ready",
      help: "Runs that wait for a runner",
      registers: [made],
      async collect() {
        this.set((await backlog()).n);
      },
    });
    new Gauge({
      name: "muster_runs_oldest_ready_seconds",
      help: "How long the oldest of them has waited",
      registers: [made],
      async collect() {
        const { oldest } = await backlog();
        this.set(oldest === null ? 0 : Math.max(0, now() - oldest) / 1_000);
      },
    });
    return made;
  }

  return {
    observe(method, status) {
      const key = `${method} ${status}`;
      requests.set(key, (requests.get(key) ?? 0) + 1);
    },
    async text() {
      registry ??= build();
      const made = await registry;
      return { type: made.contentType, body: await made.metrics() };
    },
  };
}
