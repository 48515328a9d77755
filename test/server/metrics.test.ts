/** Metrics for operators: what they say, their page in the reference, and that they name nobody. */
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { METRICS_PAGE, withCurrentMetrics } from "../../scripts/metrics-reference.ts";
import { ContextServer } from "./fixtures/context-server.ts";

let served: ContextServer;
const limits = new Map<string, { readonly entries: number }>();
beforeEach(async () => {
  served = await ContextServer.open({
    env: { HELMDECK_MEMORY_MAX_ENTRIES: "4" },
    callerLimits: limits,
  });
});
afterEach(() => served.close());

async function metric(name: string): Promise<number | undefined> {
  const { text } = await served.answerTo("/metrics");
  const line = text.split("\n").find((each) => each.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length));
}

describe("metrics", () => {
  it("say how full the fullest caller's memory is, and name nobody", async () => {
    const { memory } = served.serverContext;
    for (const key of ["a", "b", "c"]) await memory.storeFact("canary-ana", { key, value: "v" });
    await memory.storeFact("canary-ben", { key: "a", value: "v" });
    expect(await metric("helmdeck_quota_entries_ratio")).toBe(0.75);
    limits.set("canary-ana", { entries: 300 }).set("nobody", { entries: 1 });
    expect(await metric("helmdeck_quota_entries_ratio")).toBe(0.25);
    limits.set("canary-ben", { entries: 1 });
    expect(await metric("helmdeck_quota_entries_ratio")).toBe(1);
    expect(await metric("helmdeck_memory_entries")).toBe(4);
    expect((await served.answerTo("/metrics")).text).not.toContain("canary");
  });

  it("say what indexes take, and how long they read the store", async () => {
    const anyone = served.as();
    await anyone.post("/api/v1/memory/store", { key: "k", value: "We deploy through Konflux" });
    await anyone.post("/api/v1/memory/search", { query: "konflux" });
    expect(await metric("helmdeck_indexes")).toBe(1);
    expect(await metric("helmdeck_index_bytes")).toBeGreaterThan(100);
    expect(await metric("helmdeck_index_builds_total")).toBe(1);
    expect(await metric("helmdeck_index_syncs_total")).toBeGreaterThan(0);
    expect(await metric("helmdeck_index_sync_seconds_total")).toBeGreaterThan(0);
  });

  it("say the state of memory now, and leave out what is not known while it does not answer", async () => {
    expect(await metric('helmdeck_memory_state{state="ready"}')).toBe(1);
    await served.open.close();
    expect(await metric('helmdeck_memory_state{state="ready"}')).toBe(0);
    expect(await metric('helmdeck_memory_state{state="unavailable"}')).toBe(1);
    expect(await metric("helmdeck_memory_available")).toBe(0);
    expect(await metric("helmdeck_memory_entries")).toBeUndefined();
  });

  it("end in _total if they are counters, and only then", async () => {
    const listening = await served.server.listen({ port: 0 });
    const { text } = await served.answerTo("/metrics");
    await listening.close();
    const kinds = [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].map(([, name = "", kind]) => ({ name, kind }));
    expect(kinds.length).toBeGreaterThan(50);
    expect(kinds.filter(({ name, kind }) => name.endsWith("_total") !== (kind === "counter"))).toEqual([]);
  });

  it("are listed with unit and sentence in the reference, which node scripts/metrics-reference.ts writes", async () => {
    const page = readFileSync(METRICS_PAGE, "utf8");
    expect(await withCurrentMetrics(page)).toBe(page);
  });
});
