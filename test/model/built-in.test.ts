/** Meaning by the built-in model: the real one, in its own process, and what happens when it is not there or not right. */
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createBuiltInEmbedder } from "../../app/embedding/built-in-embedder.ts";
import type { Memory, MemoryStatus } from "../../app/memory.ts";
import { startWorkerMemory } from "../../app/worker/worker-client.ts";
import { type FoundModel, installModel, modelFolderIn } from "../../model/artefact.ts";
import { BuiltInModel, MODEL_NAME } from "../../model/run-model.ts";
import { openTestMemory, tempFolder } from "../app/fixtures/memories.ts";
import { InProcessHome } from "../cli/in-process.ts";
import { FakeClock } from "../sidecar/fake-clock.ts";
import { startStandInOllama } from "../sidecar/stand-in-ollama.ts";
import { gatherModel } from "./gathered.ts";

const FACT = { key: "diet", value: "I am allergic to peanuts." };
const QUESTION = { query: "which snacks must I avoid" };
/** A busy machine takes seconds to load the model. */
const LONG = 120_000;

let home: string;
let folder: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "helmdeck-built-in-"));
  folder = await gatherModel(join(home, "model"));
});
afterAll(() => rm(home, { recursive: true, force: true }));

const found = async (): Promise<FoundModel> => ({ ok: true, folder });

async function until<T>(ask: () => Promise<T>, isThere: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (isThere(answer)) return answer;
    await pause(20);
  }
}

function embeddedBy(status: MemoryStatus): { readonly model: string; readonly embedded: number } {
  const { embeddings } = status;
  return embeddings !== undefined && "model" in embeddings ? embeddings : { model: "none", embedded: 0 };
}

const embedded = (memory: Memory, count: number) =>
  until(
    () => memory.status("main"),
    (status) => embeddedBy(status).embedded >= count,
  );

/** The processes of the model that this process started. */
async function modelProcesses(): Promise<readonly number[]> {
  const { stdout } = await promisify(execFile)("pgrep", [
    "-P",
    String(process.pid),
    "-f",
    "model-process",
  ]).catch(() => ({ stdout: "" }));
  return stdout.split("\n").filter(Boolean).map(Number);
}

async function placeWithModel() {
  const state = await tempFolder();
  await installModel(folder, state);
  return {
    databasePath: join(state, "helmdeck-memory", "memory.sqlite"),
    keyPath: join(state, "helmdeck-memory.key"),
  };
}

async function changeByte(keyPath: string): Promise<void> {
  const file = join(modelFolderIn(dirname(keyPath)), "model.ort");
  const bytes = await readFile(file);
  bytes[12_345] = (bytes[12_345] ?? 0) ^ 1;
  await writeFile(file, bytes);
}

describe("the model", () => {
  test("gives one vector of length 1 for a text, near those of texts that mean the same", {
    timeout: LONG,
  }, async () => {
    const embedder = createBuiltInEmbedder(found);
    onTestFinished(() => embedder.close());
    expect(embedder.language).toBe("english");
    const texts = [FACT.value, "My cat likes salmon.", "word ".repeat(400)];
    const { vectors, truncated } = await embedder.embedDocuments(texts);
    const question = await embedder.embedQuery(QUESTION.query);
    const cosine = (at: number) =>
      question.reduce((sum, value, i) => sum + value * (vectors[at]?.[i] ?? 0), 0);
    expect(vectors.map(({ length }) => length)).toEqual([384, 384, 384]);
    expect(question.reduce((sum, value) => sum + value * value, 0)).toBeCloseTo(1, 5);
    expect(cosine(0)).toBeGreaterThan(cosine(1) + 0.1);
    // 254 words between the two marks.
    expect(truncated).toEqual([{ index: 2, usedLength: 254 * "word ".length }]);
  });

  test("knows nothing of its starter's environment, and ends with the memory or after half an hour without a question", {
    timeout: LONG,
  }, async () => {
    process.env.HELMDECK_MEMORY_KEY_FOR_TEST = "s3cr3t";
    onTestFinished(() => void delete process.env.HELMDECK_MEMORY_KEY_FOR_TEST);
    const clock = new FakeClock();
    const model = new BuiltInModel({ find: found, clock });
    onTestFinished(() => model.close());
    expect(await modelProcesses()).toEqual([]);
    await model.embed("a");
    const [first] = await modelProcesses();
    expect(model.processId).toBe(first);
    expect(await readFile(`/proc/${first}/environ`, "utf8")).not.toContain("s3cr3t");
    expect(clock.pending).toEqual([30 * 60_000]);
    clock.advance(30 * 60_000);
    await until(modelProcesses, (running) => running.length === 0);
    expect((await model.embed("a")).length).toBe(384);
    model.close();
    await until(modelProcesses, (running) => running.length === 0);
  });

  // verifies P-quiet-sidecar
  test("is replaced when it hangs, without anybody who stores, and after growing pauses", {
    timeout: LONG,
  }, async () => {
    const clock = new FakeClock();
    const model = new BuiltInModel({ find: found, clock });
    onTestFinished(() => model.close());
    await model.load();
    const hang = async (silentMs: number): Promise<void> => {
      const hanging = Number(model.processId);
      process.kill(hanging, "SIGSTOP");
      const [question, other] = [model.embed("a"), model.embed("b")];
      for (const asked of [question, other]) asked.catch(() => undefined);
      await clock.alarmIn(silentMs);
      clock.advance(silentMs);
      expect(model.processId).toBe(hanging);
      clock.advance(silentMs);
      await expect(question).rejects.toMatchObject({ code: "embeddings_unavailable" });
      await until(modelProcesses, (running) => !running.includes(hanging));
    };
    await hang(5_000);
    expect((await model.embed("a")).length).toBe(384); // at once
    for (const pauseMs of [30_000, 60_000, 120_000]) {
      await hang(5_000);
      await expect(model.embed("a")).rejects.toThrow(`started again in ${pauseMs / 1_000} s`);
      clock.advance(pauseMs);
      expect((await model.embed("a")).length).toBe(384);
    }
    clock.advance(600_001); // the last one lasted
    await hang(5_000);
    expect((await model.embed("a")).length).toBe(384);
  });

  // verifies P-quiet-sidecar
  test("that is slow, loading or loaded, is left alone", { timeout: LONG }, async () => {
    const clock = new FakeClock();
    const model = new BuiltInModel({ find: found, clock });
    onTestFinished(() => model.close());
    for (const silentMs of [60_000, 5_000, 5_000, 5_000]) {
      const answer = model.embed("a");
      if (model.processId !== undefined) process.kill(model.processId, "SIGSTOP");
      await clock.alarmIn(silentMs);
      process.kill(Number(model.processId), "SIGSTOP");
      clock.advance(silentMs);
      process.kill(Number(model.processId), "SIGCONT");
      expect((await answer).length).toBe(384);
    }
    expect(await modelProcesses()).toEqual([model.processId]);
  });

  test("that gets too little memory says so", { timeout: LONG }, async () => {
    const model = new BuiltInModel({ find: found, nodeOptions: ["--wasm-max-mem-pages=600"] });
    onTestFinished(() => model.close());
    await expect(model.embed("a")).rejects.toMatchObject({ code: "embeddings_out_of_memory" });
  });
});

describe("a memory that nobody configured", () => {
  test("finds a fact by a question in other words", { timeout: LONG }, async () => {
    const memory = await openTestMemory(await placeWithModel());
    await memory.storeFact("main", FACT);
    expect(embeddedBy(await embedded(memory, 1)).model).toBe(MODEL_NAME);
    const answer = await until(
      () => memory.search("main", QUESTION),
      ({ mode }) => mode === "hybrid",
    );
    expect(answer.results.map(({ key }) => key)).toEqual([FACT.key]);
    expect(await modelProcesses()).toHaveLength(1);
    await memory.close();
    await until(modelProcesses, (running) => running.length === 0);
  });

  test("works in the worker of a gateway, and leaves no process behind", { timeout: LONG }, async () => {
    const place = await placeWithModel();
    const memory = startWorkerMemory({
      ...{ ...place, env: {}, embeddings: { provider: "builtin" } },
      workerUrl: new URL("../../plugin/worker.ts", import.meta.url),
    });
    await memory.storeFact("main", FACT);
    await embedded(memory, 1);
    const answer = await until(
      () => memory.search("main", QUESTION),
      ({ mode }) => mode === "hybrid",
    );
    expect(answer.results.map(({ key }) => key)).toEqual([FACT.key]);
    expect(await modelProcesses()).toHaveLength(1);
    await memory.close();
    await until(modelProcesses, (running) => running.length === 0);
  });

  test("uses keywords without a model, and says how to install it", async () => {
    const memory = await openTestMemory();
    await memory.storeFact("main", FACT);
    expect(await memory.search("main", QUESTION)).not.toHaveProperty("reason");
    expect((await memory.status()).embeddings).toEqual({
      provider: "none",
      problem: expect.stringMatching(
        /^The built-in model is not installed: .*helmdeck-memory model install$/,
      ),
    });
    expect(await modelProcesses()).toEqual([]);
  });

  test("says that the model is of another version", async () => {
    const state = await tempFolder();
    await mkdir(join(state, "helmdeck-memory-model", "0".repeat(64)), { recursive: true });
    const memory = await openTestMemory({
      databasePath: join(state, "helmdeck-memory", "memory.sqlite"),
      keyPath: join(state, "helmdeck-memory.key"),
    });
    expect((await memory.status()).embeddings).toMatchObject({
      problem: expect.stringContaining("the built-in model of another version"),
    });
  });
});

// verifies P-supply-model
describe("a model that was changed", () => {
  test("is refused loudly, and facts are found by keywords until it is installed again", {
    timeout: LONG,
  }, async () => {
    const place = await placeWithModel();
    await changeByte(place.keyPath);
    const memory = await openTestMemory(place);
    await memory.storeFact("main", FACT);
    const status = await until(
      () => memory.status("main"),
      ({ mode }) => mode === "keyword",
    );
    const problem = /model\.ort is not the file that this version was built with, so it is not loaded/;
    expect(status.embeddings).toMatchObject({ embedded: 0, failure: expect.stringMatching(problem) });
    const { findings } = await memory.doctor();
    expect(findings).toContainEqual(
      expect.objectContaining({ level: "warning", message: expect.stringMatching(problem) }),
    );
    expect(await memory.search("main", { query: "peanuts" })).toMatchObject({
      mode: "keyword",
      reason: "Searched by keywords only: the built-in model was changed, and is not loaded.",
      results: [{ key: FACT.key }],
    });
    await installModel(folder, dirname(place.keyPath));
    await until(
      () => memory.doctor().then(() => memory.status("main")),
      ({ mode }) => mode === "hybrid",
    );
    await embedded(memory, 1);
  });
});

// verifies P-quiet-sidecar
describe("a model that is there and then is not", () => {
  test("is used again once it is installed", { timeout: LONG }, async () => {
    const place = await placeWithModel();
    const models = dirname(modelFolderIn(dirname(place.keyPath)));
    await cp(models, `${models}-aside`, { recursive: true });
    await rm(models, { recursive: true });
    const memory = await openTestMemory({ ...place, embeddings: { provider: "builtin" } });
    await memory.storeFact("main", FACT);
    await until(
      () => memory.status("main"),
      ({ mode }) => mode === "keyword",
    );
    const answer = await until(
      () => memory.search("main", { query: "peanuts" }),
      ({ reason }) => reason === "Searched by keywords only: the embedding model is not installed.",
    );
    expect(answer.results.map(({ key }) => key)).toEqual([FACT.key]);
    await cp(`${models}-aside`, models, { recursive: true });
    await until(
      () => memory.doctor().then(() => memory.status("main")),
      ({ mode }) => mode === "hybrid",
    );
    await embedded(memory, 1);
  });

  test("loses nothing if its process is killed while it embeds", { timeout: LONG }, async () => {
    const memory = await openTestMemory(await placeWithModel());
    for (let i = 0; i < 20; i += 1)
      await memory.storeFact("main", { key: `f-${i}`, value: `Room ${i} is painted.` });
    await embedded(memory, 1);
    const [running] = await modelProcesses();
    process.kill(Number(running), "SIGKILL");
    const answer = await memory.search("main", { query: "room 7 painted" });
    expect(answer.results[0]?.key).toBe("f-7");
    await embedded(memory, 20);
    expect(await modelProcesses()).not.toContain(running);
  });
});

describe("a command", () => {
  test("waits until the model is loaded", {
    timeout: LONG,
  }, async () => {
    const home = new InProcessHome();
    onTestFinished(() => home.remove());
    const run = async (...args: string[]) => JSON.parse((await home.run([...args, "--json"])).stdout);
    await home.run(["model", "install", "--from", folder]);
    await home.run(["store", FACT.key, FACT.value]);
    await home.run(["embed"]);
    // Nothing is embedded for the question before the command starts.
    expect(await run("search", QUESTION.query)).toMatchObject({
      mode: "hybrid",
      results: [{ key: FACT.key }],
    });
  });
});

describe("a change of what embeds", () => {
  test("from a service to the built-in model and back keeps facts found", { timeout: LONG }, async () => {
    const service = await startStandInOllama({ models: ["nomic-embed-text"] });
    onTestFinished(() => service.close());
    const ollama = { provider: "ollama", url: service.address, model: "nomic-embed-text" } as const;
    const place = await placeWithModel();
    const first = await openTestMemory({ ...place, embeddings: ollama });
    await first.storeFact("main", FACT);
    await embedded(first, 1);
    await first.close();

    // A short-lived process makes no vectors: those of the service serve while its address is known.
    const former = { provider: "builtin", former: ollama } as const;
    const between = await openTestMemory({ ...place, embeddings: former, embedsEntries: false });
    await between.warm("main");
    await until(
      () => between.search("main", QUESTION),
      ({ mode }) => mode === "hybrid",
    );
    expect(embeddedBy(await between.status()).embedded).toBe(0);
    await between.close();

    const second = await openTestMemory({ ...place, embeddings: { provider: "builtin" } });
    await second.warm("main");
    expect(embeddedBy(await embedded(second, 1)).model).toBe(MODEL_NAME);
    const answer = await until(
      () => second.search("main", QUESTION),
      ({ mode }) => mode === "hybrid",
    );
    expect(answer.results.map(({ key }) => key)).toEqual([FACT.key]);
    await second.close();

    const back = await openTestMemory({ ...place, embeddings: ollama, embedsEntries: false });
    await back.warm("main");
    const served = await until(
      () => back.search("main", QUESTION),
      ({ mode }) => mode === "hybrid",
    );
    expect(served.results.map(({ key }) => key)).toEqual([FACT.key]); // by the built-in model's vectors
    await back.close();
  });
});
