/** The alert rules that ship, judged by Prometheus's own tool: each fires for its trouble, and none without. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { whyWithout } from "../run/programs.ts";
import { ContextServer } from "./fixtures/context-server.ts";

const RULES = fileURLToPath(new URL("../../docs/reference/alerts.rules.yml", import.meta.url));
const run = promisify(execFile);

type Series = Readonly<Record<string, string>>;

/** Hours of an engine that works, a value a minute, in promtool's notation. */
const WELL: Series = {
  'up{job="helmdeck"}': "1x400",
  helmdeck_memory_available: "1x400",
  helmdeck_memory_losses_total: "1x400",
  'helmdeck_memory_state{state="ephemeral"}': "0x400",
  'helmdeck_memory_state{state="read_only"}': "0x400",
  helmdeck_store_full: "0x400",
  'helmdeck_failures_total{code="store_locked"}': "0x400",
  'helmdeck_failures_total{code="internal"}': "0x400",
  'helmdeck_http_requests_total{route="/api/v1/memory/search",status="200"}': "0+60x400",
  'helmdeck_http_requests_total{route="/api/v1/memory/search",status="503"}': "0+1x400",
  'helmdeck_http_requests_total{route="/api/v1/memory/store",status="507"}': "0+6x400", // a caller at its limit
  'helmdeck_http_request_duration_seconds_bucket{route="/api/v1/memory/search",le="0.1"}': "0+60x400",
  'helmdeck_http_request_duration_seconds_bucket{route="/api/v1/memory/search",le="2.5"}': "0+61x400",
  'helmdeck_http_request_duration_seconds_bucket{route="/api/v1/memory/search",le="+Inf"}': "0+61x400",
  helmdeck_store_calls_waiting: "0x400",
  helmdeck_quota_entries_ratio: "0.2x400",
  helmdeck_quota_bytes_ratio: "0.1x400",
  helmdeck_index_evictions_total: "0+1x400",
  helmdeck_index_syncs_total: "0+60x400",
  helmdeck_index_bytes: "250000000x400",
  helmdeck_index_limit_bytes: "268435456x400",
  helmdeck_http_connections: "100x400",
  helmdeck_key_change_unfinished: "0x400",
  'helmdeck_build_info{version="0.2.0"}': "1x400",
};

/** What differs, when somebody looks, and what else fires then. */
const TROUBLE: Readonly<Record<string, readonly [changed: Series, after: string, other?: string]>> = {
  HelmdeckDown: [{ 'up{job="helmdeck"}': "1 0x20" }, "3m"],
  HelmdeckMemoryLost: [{ helmdeck_memory_available: "1 0x20" }, "2m"],
  HelmdeckMemoryWasLost: [{ helmdeck_memory_losses_total: "0 0 1x20" }, "4m"],
  HelmdeckMemoryFlaps: [{ helmdeck_memory_losses_total: "0 0 1 2 3 4 4x20" }, "8m", "HelmdeckMemoryWasLost"],
  HelmdeckMemoryNotKept: [{ 'helmdeck_memory_state{state="ephemeral"}': "1x20" }, "6m"],
  HelmdeckReadOnly: [{ 'helmdeck_memory_state{state="read_only"}': "1x20" }, "6m"],
  HelmdeckDiskFull: [{ helmdeck_store_full: "0 0 1x20" }, "2m"],
  HelmdeckStoreLocked: [{ 'helmdeck_failures_total{code="store_locked"}': "0+1x20" }, "10m"],
  HelmdeckSlow: [
    { 'helmdeck_http_request_duration_seconds_bucket{route="/api/v1/memory/search",le="0.1"}': "0+30x20" },
    "15m",
  ],
  HelmdeckCallsWait: [{ helmdeck_store_calls_waiting: "3x20" }, "3m"],
  HelmdeckRequestsFail: [
    { 'helmdeck_http_requests_total{route="/api/v1/memory/search",status="503"}': "0+6x20" },
    "15m",
  ],
  HelmdeckDefect: [{ 'helmdeck_failures_total{code="internal"}': "0 0 1x20" }, "4m"],
  HelmdeckQuotaNearlyUsed: [{ helmdeck_quota_bytes_ratio: "0.95x20" }, "12m"],
  HelmdeckIndexesTooLarge: [{ helmdeck_index_evictions_total: "0+50x40" }, "35m"],
  HelmdeckConnectionsNearLimit: [{ helmdeck_http_connections: "760x20" }, "6m"],
  HelmdeckKeyChangeUnfinished: [{ helmdeck_key_change_unfinished: "1x400" }, "6h30m"],
  HelmdeckVersionsDiffer: [{ 'helmdeck_build_info{version="0.3.0"}': "1x400" }, "6h30m"],
};

interface Rule {
  readonly alert: string;
  readonly expr: string;
}

let folder: string;
let rules: readonly Rule[];
let names: readonly string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "helmdeck-alerts-"));
  rules = parse(await readFile(RULES, "utf8")).groups.flatMap((group: { rules: Rule[] }) => group.rules);
  names = rules.map(({ alert }) => alert);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("the alert rules", () => {
  it("name only metrics that a server has", async () => {
    const served = await ContextServer.open();
    const listening = await served.server.listen({ port: 0 });
    try {
      const text = await (await fetch(`${listening.url}/metrics`)).text();
      const known = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
      const used = rules.flatMap(({ expr }) => expr.match(/helmdeck_\w+/g) ?? []);
      expect(used.filter((name) => !known.has(name.replace(/_bucket$/, "")))).toEqual([]);
    } finally {
      await listening.close();
      await served.close();
    }
  });

  it("each have a trouble in this test", () => {
    expect(Object.keys(TROUBLE).sort()).toEqual([...names].sort());
  });

  describe.skipIf(whyWithout("promtool", "--version") !== undefined)("in Prometheus", () => {
    it("are valid", async () => {
      expect((await run("promtool", ["check", "rules", RULES])).stdout).toContain(
        `${names.length} rules found`,
      );
    });

    it("fire each for its trouble alone, and not at all without", async () => {
      const cases = [
        caseOf(WELL, "6h30m", []),
        ...Object.entries(TROUBLE).map(([alert, [changed, after, other]]) =>
          caseOf({ ...WELL, ...changed }, after, other === undefined ? [alert] : [alert, other]),
        ),
        caseOf({ ...WELL, helmdeck_store_full: "0 1 1 0x20" }, "3m", []),
        caseOf({ ...WELL, helmdeck_memory_losses_total: "0 1x20" }, "12m", []),
      ];
      const file = join(folder, "alerts.yml");
      await writeFile(file, stringify({ rule_files: [RULES], evaluation_interval: "1m", tests: cases }));
      expect((await run("promtool", ["test", "rules", file])).stdout).toContain("SUCCESS");
    });
  });
});

function caseOf(series: Series, after: string, firing: readonly string[]) {
  return {
    interval: "1m",
    input_series: Object.entries(series).map(([name, values]) => ({
      series: name.includes("{") ? name.replace("{", '{instance="a",') : `${name}{instance="a"}`,
      values,
    })),
    promql_expr_test: [
      {
        expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
        eval_time: after,
        exp_samples: firing.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
      },
    ],
  };
}
