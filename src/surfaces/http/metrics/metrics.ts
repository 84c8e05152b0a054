/**
 * Metrics for Prometheus: this process, its requests and turns, and the shared database's figures on all
 * servers.
 */
import { statfs } from "node:fs/promises";
import type { Kernel, Principal } from "#engine/index.ts";
import { readyBacklog } from "#engine/runs/index.ts";
import type { MetricFamily, Sample } from "#features/metrics/contract.ts";
import type { Runner } from "#protocol/runs.ts";
import { prometheusText } from "./prometheus-text.ts";

export interface Metrics {
  /** Includes the runners of the caller's organisation. */
  text(principal: Principal): Promise<{ type: string; body: string }>;
  observe(method: string, status: number): void;
}

export interface MetricSources {
  kernel: Kernel;
  now(): number;
  /** Requests with forwarded headers of an untrusted proxy. */
  countUntrusted(): number;
  /** Open sockets and streams, by kind. */
  countStreams(): Readonly<Record<string, number>>;
  /** Turns and model requests of this server. */
  turns(): MetricFamily[];
  /** Folder on the server's disk. */
  home: string;
}

export function createMetrics(sources: MetricSources): Metrics {
  const requests = new Map<string, number>();
  let registry: Promise<import("prom-client").Registry> | undefined;
  return {
    observe(method, status) {
      const key = `${method} ${status}`;
      requests.set(key, (requests.get(key) ?? 0) + 1);
    },
    async text(principal) {
      registry ??= processRegistry();
      const [made, stored, disk] = await Promise.all([
        registry,
        storedFigures(sources, principal),
        diskFigures(sources.home),
      ]);
      const families = [
        requestFamily(requests),
        counter(
          "muster_untrusted_forwarded_requests_total",
          "Requests with forwarded headers from a proxy that MUSTER_TRUSTED_PROXY does not name",
          sources.countUntrusted(),
        ),
        streamFamily(sources.countStreams()),
        ...sources.turns(),
        ...stored,
        ...disk,
      ];
      return { type: made.contentType, body: (await made.metrics()) + prometheusText(families) };
    },
  };
}

/** Loaded on first use, so that it costs an idle server no memory. */
async function processRegistry(): Promise<import("prom-client").Registry> {
  const module = await import("prom-client");
  // In the bundle, a CommonJS package has everything under its default export.
  const { collectDefaultMetrics, Registry } = module.default ?? module;
  const made = new Registry();
  collectDefaultMetrics({ register: made, prefix: "muster_" });
  return made;
}

function requestFamily(requests: ReadonlyMap<string, number>): MetricFamily {
  const samples = [...requests].map(([key, value]): Sample => {
    const [method = "", status = ""] = key.split(" ");
    return { labels: { method, status }, value };
  });
  const help = "Requests answered, by method and status";
  return { name: "muster_http_requests_total", help, type: "counter", samples };
}

function streamFamily(counts: Readonly<Record<string, number>>): MetricFamily {
  const samples = Object.entries(counts).map(([kind, value]) => ({ labels: { kind }, value }));
  const help = "Open sockets and streams, by kind";
  return { name: "muster_streams", help, type: "gauge", samples };
}

/** Figures that every server reads alike from the shared database. */
async function storedFigures(
  { kernel, now }: MetricSources,
  principal: Principal,
): Promise<MetricFamily[]> {
  const { store } = kernel.engine;
  const [backlog, use, runners] = await Promise.all([
    store.read((reader) => readyBacklog(reader, now())),
    store.use?.(),
    kernel.runners.list(principal),
  ]);
  const waited = backlog.oldest === null ? 0 : Math.max(0, now() - backlog.oldest) / 1_000;
  return [
    gauge("muster_runs_ready", "Runs waiting for a runner", backlog.n),
    gauge("muster_runs_oldest_ready_seconds", "Waiting time of the oldest one", waited),
    gauge("muster_database_bytes", "Size of the database", use?.databaseBytes ?? 0),
    gauge("muster_database_log_bytes", "Size of SQLite's write-ahead log", use?.logBytes ?? 0),
    ...runnerFamilies(runners.items, now()),
  ];
}

/** A runner that has been offline for longer is not expected back. */
const FORGOTTEN_AFTER_SECONDS = 7 * 24 * 60 * 60;

function runnerFamilies(runners: readonly Runner[], now: number): MetricFamily[] {
  const secondsAway = ({ lastSeenAt }: Runner) =>
    lastSeenAt === null ? Infinity : Math.max(0, now - Date.parse(lastSeenAt)) / 1_000;
  const known = runners.filter((runner) => secondsAway(runner) <= FORGOTTEN_AFTER_SECONDS);
  /** A runner that has not reported a figure has no sample. */
  const each = (name: string, help: string, value: (runner: Runner) => number | undefined) => {
    const samples = known.flatMap((runner): Sample[] => {
      const figure = value(runner);
      const labels = { runner: runner.id, name: runner.name };
      return figure === undefined ? [] : [{ labels, value: figure }];
    });
    return { name, help, type: "gauge", samples } as const;
  };
  return [
    each("muster_runner_up", "1 while the runner is connected", ({ state }) =>
      state === "offline" ? 0 : 1,
    ),
    each("muster_runner_last_seen_seconds", "Time since the runner was last seen", secondsAway),
    each("muster_runner_turns", "Turns the runner holds", ({ running }) => running),
    each("muster_runner_places", "Turns the runner can take at once", ({ capacity }) => capacity),
    each(
      "muster_runner_disk_free_bytes",
      "Free space on the runner's disk",
      (one) => one.disk?.freeBytes,
    ),
    each(
      "muster_runner_disk_floor_bytes",
      "Free space below which commands that write are not run",
      (one) => one.disk?.floorBytes,
    ),
    each(
      "muster_runner_workspaces",
      "Workspaces on the runner",
      (one) => one.disk?.workspaces.count,
    ),
    each(
      "muster_runner_workspaces_bytes",
      "Space used by workspaces",
      (one) => one.disk?.workspaces.bytes,
    ),
    each(
      "muster_runner_mirrors_bytes",
      "Space of repository copies on the runner",
      (one) => one.disk?.mirrors.bytes,
    ),
  ];
}

async function diskFigures(folder: string): Promise<MetricFamily[]> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return [
    gauge("muster_disk_free_bytes", "Free space on the server's disk", bavail * bsize),
    gauge("muster_disk_bytes", "Size of the server's disk", blocks * bsize),
  ];
}

function gauge(name: string, help: string, value: number): MetricFamily {
  return { name, help, type: "gauge", samples: [{ value }] };
}

function counter(name: string, help: string, value: number): MetricFamily {
  return { name, help, type: "counter", samples: [{ value }] };
}
