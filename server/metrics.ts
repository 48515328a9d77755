/**
 * Prometheus metrics. Labels are route patterns, statuses, error codes and class names: closed sets without callers, keys
 * or values.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { MemoryGauges } from "../app/compose.ts";
import { ERROR_CODES } from "../engine/errors.ts";
import manifest from "../package.json" with { type: "json" };
import type { ServerContext } from "../packs/server-context.ts";
import { type ReadinessParts, readinessOf } from "./readiness.ts";

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60];

export interface Metrics {
  readonly contentType: string;
  text(): Promise<string>;
  answered(request: {
    readonly method: string;
    readonly route: string;
    readonly status: number;
    readonly seconds: number;
  }): void;
  failed(code: string): void;
  unexpected(kind: string): void;
  tokenUsed(isOfFirstSecret: boolean): void;
  /** Adds open connections and this process's memory, CPU and event loop. Called once, when the server listens. */
  watchProcess(countConnections: () => Promise<number>): void;
}

/** Present values, by name and sentence. Undefined: this memory has no such thing, or the store does not answer. */
const PRESENT: Readonly<
  Record<string, readonly [help: string, value: (gauges: MemoryGauges) => number | undefined]>
> = {
  helmdeck_memory_entries: ["Entries of all callers.", ({ usage }) => usage?.entries],
  helmdeck_memory_bytes: ["Bytes of all callers' values, as stored.", ({ usage }) => usage?.bytes],
  helmdeck_quota_entries_ratio: [
    "Entries of the caller whose memory is fullest, as a part of what it may have: 1 is full.",
    ({ usage }) => usage?.fullest.entries,
  ],
  helmdeck_quota_bytes_ratio: [
    "Bytes of the caller whose memory is fullest, as a part of what it may have: 1 is full.",
    ({ usage }) => usage?.fullest.bytes,
  ],
  helmdeck_key_change_unfinished: [
    "1 while a change of the encryption key is unfinished and two keys open the memory, else 0.",
    ({ isKeyChanging }) => Number(isKeyChanging),
  ],
  helmdeck_store_full: [
    "1 since a write found the disk full, until the engine's own attempt every 10 s finds room, else 0.",
    ({ isFull }) => (isFull === undefined ? undefined : Number(isFull)),
  ],
  helmdeck_store_connections: ["Open connections to the database server.", (all) => all.connections?.open],
  helmdeck_store_connections_in_use: [
    "Connections to the database server that work now.",
    (all) => all.connections?.inUse,
  ],
  helmdeck_store_connections_limit: [
    "The most connections to the database server.",
    (all) => all.connections?.most,
  ],
  helmdeck_store_calls_waiting: [
    "Calls that wait for a connection to the database server.",
    (all) => all.connections?.waiting,
  ],
  helmdeck_indexes: ["Search indexes in memory.", ({ indexes }) => indexes.kept],
  helmdeck_index_bytes: ["Bytes of the search indexes in memory.", ({ indexes }) => indexes.sizeBytes],
  helmdeck_index_limit_bytes: [
    "The most bytes of search indexes to keep in memory.",
    ({ indexes }) => indexes.limitBytes,
  ],
  helmdeck_index_age_seconds: [
    "Age of the oldest search index in memory, in seconds; 0 without one.",
    ({ indexes }) => indexes.ageMs / 1_000,
  ],
};

/** Counts since the start, likewise. */
const SINCE_START: typeof PRESENT = {
  helmdeck_memory_losses_total: ["How often memory was lost.", ({ losses }) => losses],
  helmdeck_store_connections_opened_total: [
    "Connections that were opened to the database server; many of them mean that it is often lost.",
    ({ connections }) => connections?.everOpened,
  ],
  helmdeck_index_builds_total: ["Search indexes that were begun.", ({ indexes }) => indexes.begun],
  helmdeck_index_evictions_total: [
    "Search indexes that were dropped, to make room or after a time without use.",
    ({ indexes }) => indexes.evicted,
  ],
  helmdeck_index_syncs_total: [
    "How often an index read what had changed in the store, at least once for each search.",
    ({ indexes }) => indexes.readings,
  ],
  helmdeck_index_sync_seconds_total: [
    "Time in which indexes read what had changed in the store, in seconds, with the wait of large memories for their turn.",
    ({ indexes }) => indexes.readingMs / 1_000,
  ],
};

const STATES = ["ready", "read_only", "ephemeral", "unavailable"] as const;

/** Uses its own registry, so that two servers in one process count separately. */
export function makeMetrics(context: ReadinessParts & Pick<ServerContext, "gauges">): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: "helmdeck_http_requests_total",
    help: "Requests answered.",
    labelNames: ["method", "route", "status"],
    registers,
  });
  const durations = new Histogram({
    name: "helmdeck_http_request_duration_seconds",
    help: "Time from a request's headers to its answer.",
    labelNames: ["method", "route"],
    buckets: SECONDS,
    registers,
  });
  const failures = new Counter({
    name: "helmdeck_failures_total",
    help: "Requests and calls of MCP tools that were refused or failed, by error code.",
    labelNames: ["code"],
    registers,
  });
  // A counter that begins at 1 has not grown for Prometheus.
  for (const code of ERROR_CODES) failures.inc({ code }, 0);
  const defects = new Counter({
    name: "helmdeck_unexpected_errors_total",
    help: "Unexpected exceptions, by class.",
    labelNames: ["kind"],
    registers,
  });
  const tokenUses = new Counter({
    name: "helmdeck_token_requests_total",
    help: "Requests with an accepted token, by the secret that signed it: the first one, or another.",
    labelNames: ["secret"],
    registers,
  });
  const build = new Gauge({
    name: "helmdeck_build_info",
    help: "Always 1; the labels are the version of this program and of Node.",
    labelNames: ["version", "node"],
    registers,
  });
  build.set({ version: manifest.version, node: process.versions.node }, 1);
  const available = new Gauge({
    name: "helmdeck_memory_available",
    help: "1 when memory answers now, else 0.",
    registers,
  });
  const states = new Gauge({
    name: "helmdeck_memory_state",
    help: "1 for the state of memory now, as /readyz says it, else 0.",
    labelNames: ["state"],
    registers,
  });
  const present = Object.entries(PRESENT).map(([name, [help, measured]]) => {
    const gauge = new Gauge({ name, help, registers });
    return { measured, remove: () => gauge.remove(), set: (value: number) => gauge.set(value) };
  });
  const counted = Object.entries(SINCE_START).map(([name, [help, measured]]) => {
    const counter = new Counter({ name, help, registers });
    return { measured, remove: () => counter.remove(), set: (value: number) => counter.inc(value) };
  });
  const measure = async (): Promise<void> => {
    const [{ memory: now }, gauges] = await Promise.all([readinessOf(context), context.gauges?.()]);
    available.set(now === "unavailable" ? 0 : 1);
    for (const state of STATES) states.set({ state }, Number(state === now));
    for (const { measured, remove, set } of [...present, ...counted]) {
      const value = gauges && measured(gauges);
      remove();
      if (value !== undefined) set(value);
    }
  };
  return {
    contentType: registry.contentType,
    text: async () => {
      await measure();
      return registry.metrics();
    },
    answered: ({ method, route, status, seconds }) => {
      requests.inc({ method, route, status });
      durations.observe({ method, route }, seconds);
    },
    failed: (code) => failures.inc({ code }),
    unexpected: (kind) => defects.inc({ kind }),
    tokenUsed: (isOfFirstSecret) => tokenUses.inc({ secret: isOfFirstSecret ? "first" : "other" }),
    watchProcess: (countConnections) => {
      collectDefaultMetrics({ register: registry });
      // The sums of others. For Prometheus, only counters end like this.
      for (const what of ["handles", "requests", "resources"])
        registry.removeSingleMetric(`nodejs_active_${what}_total`);
      new Gauge({
        name: "helmdeck_http_connections",
        help: "Open connections.",
        registers,
        async collect() {
          this.set(await countConnections());
        },
      });
    },
  };
}
