/**
 * Prometheus metrics. Labels are route patterns, statuses, error codes and class names: closed sets without callers, keys
 * or values.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { ServerContext } from "../packs/server-context.ts";

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

/** Uses its own registry, so that two servers in one process count separately. */
export function makeMetrics({ memory }: Pick<ServerContext, "memory">): Metrics {
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
    help: "Requests that were refused or failed, by error code.",
    labelNames: ["code"],
    registers,
  });
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
  new Gauge({
    name: "helmdeck_memory_available",
    help: "1 when memory answers now, else 0.",
    registers,
    async collect() {
      this.set((await memory.status()).error === undefined ? 1 : 0);
    },
  });
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    answered: ({ method, route, status, seconds }) => {
      requests.inc({ method, route, status });
      durations.observe({ method, route }, seconds);
    },
    failed: (code) => failures.inc({ code }),
    unexpected: (kind) => defects.inc({ kind }),
    tokenUsed: (isOfFirstSecret) => tokenUses.inc({ secret: isOfFirstSecret ? "first" : "other" }),
    watchProcess: (countConnections) => {
      collectDefaultMetrics({ register: registry });
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
