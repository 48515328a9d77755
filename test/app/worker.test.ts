import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Memory, USE_CASES } from "../../app/memory.ts";
import { openMemory } from "../../app/open-memory.ts";
import type { StorageLocation } from "../../app/storage-location.ts";
import { startWorkerMemory, type WorkerMemoryOptions } from "../../app/worker/worker-client.ts";
import { openingMemory } from "../../app/worker/worker-server.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { betterSqliteDriver } from "../../engine/store/sqlite/better-sqlite-driver.ts";
import { nodeSqliteDriver } from "../../engine/store/sqlite/node-sqlite-driver.ts";
import { bundledScript } from "../run/bundles.ts";
import { openTestMemory, placeWithFact, tempPlace } from "./fixtures/memories.ts";

type WorkerName = "memory" | "mortal" | "stillborn" | "probe";

/** Bundled, as the plugin's is: a worker then loads in a fraction of the time. */
async function workerUrl(name: WorkerName): Promise<URL> {
  return pathToFileURL(await bundledScript(join(import.meta.dirname, "fixtures", `${name}-worker.ts`)));
}

async function startTestWorker(
  name: WorkerName = "memory",
  options: Partial<WorkerMemoryOptions> = {},
): Promise<Memory> {
  const place = options.databasePath === undefined ? await tempPlace() : undefined;
  const full = { env: {}, workerUrl: options.workerUrl ?? (await workerUrl(name)), ...place, ...options };
  const memory = startWorkerMemory(full as WorkerMemoryOptions); // one of the two contains the storage location
  onTestFinished(() => memory.close());
  return memory;
}

const unavailable = expect.objectContaining({ name: "HelmdeckError", code: "memory_unavailable" });

describe("memory in a worker", () => {
  test("offers every use case that memory in process does", async () => {
    // Only commands use these in their own process: they wait for the work to end, and a person may override a refusal. A server
    // measures its memory with `gauges`.
    const inProcess = ["store", "now", "defaultTtlSeconds", "newKey", "embed", "embedFact", "gauges"];
    const notOffered = [...inProcess, "storeFactAllowingSecret"];
    const useCases = Object.keys(await openTestMemory()).filter((name) => !notOffered.includes(name));
    expect(useCases.sort()).toEqual([...USE_CASES].sort());
    expect(Object.keys(await startTestWorker()).sort()).toEqual([...USE_CASES].sort());
  });

  test("returns the same as memory in process", async () => {
    const place = await tempPlace();
    const memory = await startTestWorker("memory", place);
    await memory.storeFact("main", { key: "deploy", value: "We deploy through Konflux", tags: ["ci"] });
    await memory.recordPackRun("main", { pack: "lint", outcome: "ok", at_unix: 1_795_000_000 });
    await memory.recordPipelineRun("main", {
      pipeline: "nightly",
      run_id: "r",
      outcome: "failed",
      at_unix: 1_795_000_000,
    });
    await memory.warm("main");
    const inProcess = await openMemory({
      ...{ ...place, env: {}, driver: nodeSqliteDriver, sweepEveryMs: 0 },
      embeddings: { provider: "none" },
    });
    onTestFinished(() => inProcess.close());
    const seen = (from: Memory) =>
      Promise.all([
        from.getFact("main", { key: "deploy" }),
        from.getFact("main", { key: "nothing" }),
        from.listFacts("main", {}),
        from.search("main", { query: "konflux", explain: true }),
        from.readDocument("main", { path: "helmdeck/user_facts/deploy.md" }),
        from.readDocument("main", { path: "helmdeck/user_facts/nothing.md" }),
        from.forget("main", { scope: "all", dryRun: true }),
        from.myMemory("main").then(({ categories }) => categories),
        from.defaults("main").then(({ fetched_at: _, ...learnt }) => learnt),
        from.corpusPage("main", { limit: 2 }),
        from.corpusPage("main", { query: "konflux" }),
        from.callers(),
        from.revision("main"),
        from.status("main"),
        from.sweep(),
      ]);
    expect(await seen(memory)).toEqual(await seen(inProcess));
    expect((await memory.doctor()).store?.entries).toBe(3);
    expect((await memory.forget("main", { scope: "everything" })).deleted).toBe(3);
  });

  test("passes on errors with class, code, message and details", async () => {
    const memory = await startTestWorker();
    const error = await memory.storeFact("main", { key: "", value: "v" }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(HelmdeckError);
    expect(error).toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("key is missing"),
      details: { field: "key" },
    });
  });

  test("reports an argument that cannot be sent as a bug, and keeps working", async () => {
    const memory = await startTestWorker();
    // @ts-expect-error a function is not a valid value
    await expect(memory.storeFact("main", { key: "k", value: () => {} })).rejects.toMatchObject({
      code: "internal",
    });
    expect(await memory.getFact("main", { key: "k" })).toBeUndefined();
  });

  test("answers concurrent calls separately", async () => {
    const memory = await startTestWorker();
    const keys = Array.from({ length: 50 }, (_, index) => `k${index}`);
    const stored = await Promise.all(keys.map((key) => memory.storeFact("main", { key, value: key })));
    expect(stored.map(({ key }) => key)).toEqual(keys);
    const values = await Promise.all(keys.map((key) => memory.getFact("main", { key })));
    expect(values.map((fact) => fact?.value)).toEqual(keys);
  });

  test("opens nothing before the first call", async () => {
    const place = await tempPlace();
    const memory = await startTestWorker("memory", place);
    expect([existsSync(place.databasePath), existsSync(place.keyPath)]).toEqual([false, false]);
    await memory.getFact("main", { key: "k" });
    expect([existsSync(place.databasePath), existsSync(place.keyPath)]).toEqual([true, true]);
  });

  // verifies P-key-never-shown
  test("gets its key without an argument that others could read", async () => {
    const memory = await startTestWorker("probe", { configuredKey: "ab".repeat(32) });
    const start: unknown = await memory.doctor();
    expect(start).toMatchObject({
      execArgv: [],
      workerData: ["databasePath", "keyPath", "embeddings", "configuredKey", "env"],
    });
    expect(JSON.stringify(start)).not.toContain("abab");
  });

  test("uses the configured key before that of the environment", async () => {
    const place = await tempPlace();
    const env = { HELMDECK_MEMORY_KEY: "cd".repeat(32) };
    const first = await startTestWorker("memory", { ...place, env, configuredKey: "ab".repeat(32) });
    await first.storeFact("main", { key: "k", value: "v" });
    await first.close();
    const second = await startTestWorker("memory", { ...place, env });
    await expect(second.getFact("main", { key: "k" })).rejects.toMatchObject({ code: "key_wrong" });
    expect(existsSync(place.keyPath)).toBe(false);
  });

  test("does not keep an idle process alive", async () => {
    const { databasePath, keyPath } = await tempPlace();
    const program = new URL("./fixtures/leave-memory-open.ts", import.meta.url).pathname;
    const { stdout } = await promisify(execFile)(process.execPath, [program, databasePath, keyPath], {
      timeout: 60_000,
    });
    expect(stdout).toBe("helmdeck/user_facts/k.md");
    const memory = await openTestMemory({ databasePath, keyPath });
    expect((await memory.getFact("main", { key: "k" }))?.value).toBe("v");
  });
});

describe("memory that does not open", () => {
  async function lostKey(): Promise<{ readonly place: StorageLocation; readonly key: Buffer }> {
    const place = await placeWithFact();
    const key = await readFile(place.keyPath);
    await rm(place.keyPath);
    return { place, key };
  }

  test("fails every call with the cause, except status and doctor, which report it", async () => {
    const { place } = await lostKey();
    const memory = await startTestWorker("memory", place);
    const calls = [
      memory.getFact("main", { key: "k" }),
      memory.search("main", { query: "k" }),
      memory.sweep(),
      memory.warm("main"),
    ];
    const refused = { name: "HelmdeckError", code: "key_missing" };
    await Promise.all(calls.map((call) => expect(call).rejects.toMatchObject(refused)));
    expect(await memory.status("main")).toMatchObject({
      state: "failed",
      databasePath: place.databasePath,
      error: { code: "key_missing" },
    });
    expect((await memory.doctor()).findings[0]).toMatchObject({
      level: "error",
      check: "memory",
      message: expect.stringMatching(/\(key_missing\)$/),
    });
    expect(existsSync(place.keyPath)).toBe(false);
  });

  test("is retried after a pause, so that a repaired key file works without a restart", async () => {
    const { place, key } = await lostKey();
    let time = 0;
    const options = { ...place, env: {}, driver: betterSqliteDriver, sweepEveryMs: 0, clock: () => time };
    const call = openingMemory(options);
    onTestFinished(async () => void (await call("close", [])));
    const get = () => call("getFact", ["main", { key: "k" }]);
    expect(await get()).toMatchObject({ ok: false, error: { code: "key_missing" } });
    await writeFile(place.keyPath, key, { mode: 0o600 });
    time = 1_999;
    expect(await get()).toMatchObject({ ok: false, error: { code: "key_missing" } });
    time = 2_000;
    expect(await get()).toMatchObject({ ok: true, value: { value: "v" } });
  });

  test("calls only use cases", async () => {
    const call = openingMemory({ ...(await tempPlace()), env: {}, driver: betterSqliteDriver });
    for (const method of ["constructor", "__proto__", "store", "toString", ""]) {
      // @ts-expect-error none of these is a use case
      expect(await call(method, [])).toMatchObject({ ok: false, error: { code: "internal" } });
    }
  });
});

describe("a worker that dies", () => {
  test.each([
    ["by exit", (memory: Memory) => memory.sweep(), "(exit code 3)"],
    ["of an exception", (memory: Memory) => memory.warm("main"), "with RangeError (exit code 1)"],
  ])("%s fails its pending calls, and a new one continues with the same data", async (_, kill, told) => {
    let time = 0;
    const memory = await startTestWorker("mortal", { clock: () => time });
    await memory.storeFact("main", { key: "k", value: "v" });
    const pending = [kill(memory), memory.search("main", { query: "k" })];
    const outcomes = await Promise.allSettled(pending);
    expect(outcomes[0]).toEqual({ status: "rejected", reason: unavailable });
    expect(outcomes[0]).toMatchObject({ reason: { message: `The memory worker stopped ${told}.` } });
    await expect(memory.getFact("main", { key: "k" })).rejects.toMatchObject({
      code: "memory_unavailable",
      message: expect.stringContaining("will be restarted in 1 s"),
    });
    time += 250;
    expect((await memory.getFact("main", { key: "k" }))?.value).toBe("v");
  });

  test("fails every call that was pending", async () => {
    const memory = await startTestWorker("mortal", { clock: () => 0 });
    await memory.storeFact("main", { key: "k", value: "v" });
    const calls = [memory.sweep(), ...Array.from({ length: 20 }, () => memory.getFact("main", { key: "k" }))];
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);
  });

  test("repeatedly is restarted after growing pauses, up to half a minute", async () => {
    let time = 0;
    const memory = await startTestWorker("stillborn", { clock: () => time });
    const failure = () => memory.getFact("main", { key: "k" }).catch((error: Error) => error.message);
    const pauses: number[] = [];
    for (let death = 1; death <= 9; death += 1) {
      expect(await failure()).toMatch(/^The memory worker stopped with TypeError/);
      const [, seconds = "0"] = /it will be restarted in (\d+) s/.exec(String(await failure())) ?? [];
      pauses.push(Number(seconds));
      time += Number(seconds) * 1_000;
    }
    expect(pauses).toEqual([1, 1, 1, 2, 4, 8, 16, 30, 30]);
  });

  test("is reported with its cause by status and doctor, without the text of the failure", async () => {
    const memory = await startTestWorker("stillborn", { clock: () => 0 });
    const status = await memory.status("main");
    expect(status).toMatchObject({ state: "failed", error: { code: "memory_unavailable" } });
    const report = await memory.doctor();
    expect(report.findings).toEqual([
      expect.objectContaining({
        level: "error",
        check: "memory",
        message: expect.stringMatching(/^memory_unavailable: /),
      }),
    ]);
    expect(JSON.stringify([status, report])).not.toContain("may hold anything");
  });

  test("that cannot be started reports the code", async () => {
    const memory = await startTestWorker("memory", { workerUrl: new URL("https://localhost/worker.js") });
    await expect(memory.getFact("main", { key: "k" })).rejects.toMatchObject({
      code: "memory_unavailable",
      message: "The memory worker cannot be started with ERR_INVALID_URL_SCHEME.",
    });
  });

  test("with a missing file reports the code", async () => {
    const memory = await startTestWorker("memory", {
      workerUrl: new URL("./fixtures/no-such-worker.ts", import.meta.url),
    });
    await expect(memory.getFact("main", { key: "k" })).rejects.toThrow(/MODULE_NOT_FOUND/);
  });
});

describe("closing", () => {
  test("closes the store first, and only once", async () => {
    const place = await tempPlace();
    const memory = await startTestWorker("memory", place);
    await memory.storeFact("main", { key: "k", value: "v" });
    expect(existsSync(`${place.databasePath}-wal`)).toBe(true);
    await Promise.all([memory.close(), memory.close()]);
    await memory.close();
    expect(existsSync(`${place.databasePath}-wal`)).toBe(false);
  });

  test("before any call starts nothing", async () => {
    const place = await tempPlace();
    await (await startTestWorker("memory", place)).close();
    expect(existsSync(place.databasePath)).toBe(false);
  });

  test("finishes calls in progress, and refuses later ones", async () => {
    const memory = await startTestWorker();
    await memory.storeFact("main", { key: "k", value: "v" });
    const underWay = Promise.allSettled(
      Array.from({ length: 20 }, () => memory.search("main", { query: "k" })),
    );
    await memory.close();
    expect(await underWay).toHaveLength(20);
    await expect(memory.getFact("main", { key: "k" })).rejects.toMatchObject({
      message: "The memory is closed.",
    });
    expect(await memory.status("main")).toMatchObject({
      state: "failed",
      error: { code: "memory_unavailable" },
    });
  });

  test("of a dead worker is not an error", async () => {
    const memory = await startTestWorker("stillborn");
    await expect(memory.getFact("main", { key: "k" })).rejects.toEqual(unavailable);
    await memory.close();
  });
});

test("the gateway's main thread loads only a few kilobytes: no store, no index, no validation library", async () => {
  const { metafile } = await build({
    stdin: {
      contents: `
        export { HelmdeckError } from "./engine/errors.ts";
        export { findStorage } from "./app/storage-location.ts";
        export { startWorkerMemory } from "./app/worker/worker-client.ts";`,
      resolveDir: process.cwd(),
    },
    bundle: true,
    write: false,
    metafile: true,
    platform: "node",
    format: "esm",
    outfile: "main.js",
  });
  const { inputs, bytes } = metafile.outputs["main.js"] ?? { inputs: {}, bytes: Number.NaN };
  const loaded = Object.entries(inputs).flatMap(([file, { bytesInOutput }]) =>
    bytesInOutput > 0 ? [file] : [],
  );
  expect(bytes).toBeLessThan(30_000);
  expect(
    loaded.filter((file) => /zod|sqlite|recall\/|engine\/store|packs\/|node_modules\/(?!birpc)/.test(file)),
  ).toEqual([]);
});
