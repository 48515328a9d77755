import { once } from "node:events";
import { chmod, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { embeddingSettingsOfEnv } from "../../app/embedding/embedding-environment.ts";
import type { EmbeddingSettings } from "../../app/embedding/embedding-settings.ts";
import { embedStoredEntries } from "../../app/embedding/on-request.ts";
import type { Memory } from "../../app/memory.ts";
import type { OpenMemoryOptions } from "../../app/open-memory-options.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import { FakeClock } from "../sidecar/fake-clock.ts";
import { type SeenRequest, type StandInOllama, startStandInOllama } from "../sidecar/stand-in-ollama.ts";
import { entryOf, openTestMemory, tempFolder, tempPlace } from "./fixtures/memories.ts";

const MODEL = "nomic-embed-text";
const FACT = { key: "deploy-preference", value: "I always deploy via Konflux." };
const QUESTION = { query: "how do we ship to production" };

async function standIn(models: readonly string[] = [MODEL]): Promise<StandInOllama> {
  const service = await startStandInOllama({ models });
  onTestFinished(() => service.close());
  return service;
}

function at({ address: url }: StandInOllama, model = MODEL): EmbeddingSettings {
  return { provider: "ollama", url, model };
}

/** Repeats a search until memory is in the expected state: embedding runs in the background without a notification. */
async function until<T>(ask: () => Promise<T>, isThere: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (isThere(answer)) return answer;
    await setImmediate(); // lets the background work run
  }
}

async function embedded(memory: Memory, count: number): Promise<void> {
  await until(
    () => memory.status("main"),
    ({ embeddings }) => embeddings !== undefined && "embedded" in embeddings && embeddings.embedded >= count,
  );
}

const textsOf = (requests: readonly SeenRequest[]): string =>
  JSON.stringify(requests.map(({ body }) => body));

describe("settings from the environment", () => {
  test.each([
    [{}, { provider: "builtin", isDefault: true }],
    [{ HELMDECK_EMBEDDINGS_URL: "" }, { provider: "builtin", isDefault: true }],
    [{ HELMDECK_EMBEDDINGS_PROVIDER: "none" }, { provider: "none" }],
    [{ HELMDECK_EMBEDDINGS_PROVIDER: "builtin" }, { provider: "builtin" }],
    [
      { HELMDECK_EMBEDDINGS_URL: "http://127.0.0.1:1" },
      { provider: "ollama", url: "http://127.0.0.1:1", model: MODEL },
    ],
    [
      {
        HELMDECK_EMBEDDINGS_PROVIDER: "openai-compatible",
        HELMDECK_EMBEDDINGS_URL: "https://x/v1",
        HELMDECK_EMBEDDINGS_MODEL: "m",
        HELMDECK_EMBEDDINGS_KEY: "sk-1",
        HELMDECK_EMBEDDINGS_DIMENSIONS: "256",
      },
      { provider: "openai-compatible", url: "https://x/v1", model: "m", apiKey: "sk-1", dimensions: 256 },
    ],
  ])("%j", async (env, settings) => {
    expect(await embeddingSettingsOfEnv(env)).toEqual(settings);
  });

  test.each([
    [{ HELMDECK_EMBEDDINGS_PROVIDER: "openai" }, "HELMDECK_EMBEDDINGS_PROVIDER"],
    [{ HELMDECK_EMBEDDINGS_PROVIDER: "openai-compatible" }, "HELMDECK_EMBEDDINGS_URL"],
    [
      { HELMDECK_EMBEDDINGS_URL: "http://x", HELMDECK_EMBEDDINGS_DIMENSIONS: "many" },
      "HELMDECK_EMBEDDINGS_DIMENSIONS",
    ],
    [
      { HELMDECK_EMBEDDINGS_URL: "http://x", HELMDECK_EMBEDDINGS_KEY: "sk-s3cr3t" },
      "HELMDECK_EMBEDDINGS_KEY",
    ],
    [{ HELMDECK_EMBEDDINGS_URL: "http://x", HELMDECK_EMBEDDINGS_KEY_FILE: "/nowhere" }, "/nowhere"],
    [
      { HELMDECK_EMBEDDINGS_KEY: "sk-s3cr3t", HELMDECK_EMBEDDINGS_KEY_FILE: "/nowhere" },
      "HELMDECK_EMBEDDINGS_KEY_FILE",
    ],
  ])("%j is unusable: the setting is named, and no key is shown", async (env, name) => {
    const settings = await embeddingSettingsOfEnv(env);
    expect(settings).toEqual({ provider: "unusable", problem: expect.stringContaining(name) });
    expect(JSON.stringify(settings)).not.toContain("s3cr3t");
  });

  test("include a key only from a private file", async () => {
    const file = join(await tempFolder(), "key");
    await writeFile(file, "sk-1\n", { mode: 0o600 });
    const env = {
      HELMDECK_EMBEDDINGS_PROVIDER: "openai-compatible",
      HELMDECK_EMBEDDINGS_URL: "https://x/v1",
      HELMDECK_EMBEDDINGS_MODEL: "m",
      HELMDECK_EMBEDDINGS_KEY_FILE: file,
    };
    expect(await embeddingSettingsOfEnv(env)).toMatchObject({ apiKey: "sk-1" });
    await chmod(file, 0o644);
    expect(await embeddingSettingsOfEnv(env)).toMatchObject({ provider: "unusable" });
  });
});

describe("an open memory with an embedding service", () => {
  test("finds entries by semantic search without an earlier search", async () => {
    const service = await standIn();
    const memory = await openTestMemory({ embeddings: at(service) });
    await memory.storeFact("main", FACT);
    await embedded(memory, 1);
    expect(textsOf(service.requests)).toContain(
      "search_document: deploy preference: I always deploy via Konflux.",
    );
    expect(await memory.search("main", QUESTION)).toMatchObject({
      mode: "hybrid",
      results: [{ key: FACT.key }],
    });
    expect(await memory.search("other", QUESTION)).toMatchObject({ results: [] });
    expect(textsOf(service.requests)).toContain("search_query: how do we ship to production");
  });

  test("ranks a corpus query in the same way", async () => {
    const memory = await openTestMemory({ embeddings: at(await standIn()) });
    await memory.storeFact("main", FACT);
    await embedded(memory, 1);
    const { chunks, mode } = await memory.corpusPage("main", QUESTION);
    const { results } = await memory.search("main", QUESTION);
    expect(mode).toBe("hybrid");
    expect(chunks.map(({ docid, score }) => ({ docid, score }))).toEqual(
      results.map(({ docid, score }) => ({ docid, score })),
    );
  });

  test("uses the environment's settings by default", async () => {
    const service = await standIn();
    const memory = await openTestMemory({ env: { HELMDECK_EMBEDDINGS_URL: service.address } });
    expect((await memory.status()).embeddings).toMatchObject({ provider: "ollama", url: service.address });
  });

  test("uses keyword search if the service is down, and the status gives the reason", async () => {
    const service = await standIn();
    const memory = await openTestMemory({ embeddings: at(service) });
    await memory.storeFact("main", FACT);
    await embedded(memory, 1);
    await service.close();
    expect(await memory.search("main", { query: "deploy via Konflux" })).toMatchObject({
      mode: "keyword",
      reason: "Searched by keywords only: the embedding service is not available.",
      results: [{ key: FACT.key }],
    });
    expect(await memory.status("main")).toMatchObject({
      mode: "keyword",
      embeddings: { failure: expect.stringContaining("refuses") },
    });
  });

  test("aborts work in progress on close, without waiting for a service that hangs", async () => {
    const [asked, hungUp] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const server = createServer((request, response) => {
      request.resume();
      response.once("close", () => hungUp.resolve());
      asked.resolve();
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // the server listens on TCP
    const memory = await openTestMemory({ embeddings: { provider: "ollama", url, model: MODEL } });
    await memory.storeFact("main", FACT);
    await asked.promise;
    await memory.close();
    await hungUp.promise;
    await expect(memory.search("main", QUESTION)).rejects.toMatchObject({ code: "store_unavailable" });
  });

  test("works without embeddings when their settings are unusable", async () => {
    const settings: EmbeddingSettings = { provider: "ollama", url: "http://user:s3cr3t@x", model: MODEL };
    const memory = await openTestMemory({ embeddings: settings });
    await memory.storeFact("main", FACT);
    const status = await memory.status("main");
    expect(status).toMatchObject({ state: "ready", mode: "keyword", embeddings: { provider: "unusable" } });
    expect(JSON.stringify([status, await memory.doctor()])).not.toContain("s3cr3t");
    expect(await memory.search("main", { query: "Konflux" })).toMatchObject({ results: [{ key: FACT.key }] });
  });
});

describe("a short-lived command", () => {
  /** Never calls back, so a wait with this timer never ends. */
  const never = () => () => {};
  const asCommand = { embedsEntries: false, timer: never };

  async function withOneFact(service: StandInOllama): Promise<Partial<OpenMemoryOptions>> {
    const place = { ...(await tempPlace()), embeddings: at(service) };
    const first = await openTestMemory({ ...place, embedsEntries: false });
    await first.storeFact("main", FACT);
    await first.embedFact("main", FACT.key, {});
    await first.close();
    return place;
  }

  test("uses the existing vectors", async () => {
    const command = await openTestMemory({ ...(await withOneFact(await standIn())), ...asCommand });
    await command.warm("main");
    expect(await command.search("main", QUESTION)).toMatchObject({
      mode: "hybrid",
      results: [{ key: FACT.key }],
    });
    expect((await command.status("main")).embeddings).toMatchObject({ embedded: 1 });
  });

  test("embeds nothing, and reports how much is missing", async () => {
    const service = await standIn();
    const command = await openTestMemory({ ...(await withOneFact(service)), ...asCommand });
    await command.storeFact("main", { key: "lunch", value: "Lunch is vegetarian on Mondays." });
    await command.warm("main");
    expect(await command.search("main", QUESTION)).toMatchObject({
      mode: "hybrid",
      reason: "Embedded so far: 1 of 2 entries. The others are found by keywords.",
    });
    expect(textsOf(service.requests)).not.toContain("vegetarian");
  });

  test("sends one text to the service: the question", async () => {
    const service = await standIn();
    const place = await withOneFact(service);
    const before = service.requests.length;
    const command = await openTestMemory({ ...place, ...asCommand });
    await command.warm("main");
    expect(await command.search("main", { query: "Konflux deployment" })).toMatchObject({ mode: "hybrid" });
    expect(service.requests.slice(before).map(({ body }) => body)).toMatchObject([
      { input: ["search_query: Konflux deployment"] },
    ]);
  });

  test("uses semantic search even if larger requests never finish, as on a busy machine", async () => {
    const service = await standIn();
    const place = await withOneFact(service);
    service.setLatency((texts) => (texts > 1 ? 2 ** 31 - 1 : 0));
    for (let search = 0; search < 3; search += 1) {
      const command = await openTestMemory({ ...place, ...asCommand });
      await command.warm("main");
      expect(await command.search("main", QUESTION)).toMatchObject({
        mode: "hybrid",
        results: [{ key: FACT.key }],
      });
      await command.close();
    }
  });

  test("sends nothing and waits for nothing when nothing is embedded, and names the remedy", async () => {
    const service = await standIn();
    const place = { ...(await tempPlace()), embeddings: at(service) };
    const command = await openTestMemory({ ...place, ...asCommand });
    await command.storeFact("main", FACT);
    await command.warm("main");
    expect(await command.search("main", { query: "Konflux" })).toMatchObject({
      mode: "keyword",
      results: [{ key: FACT.key }],
      reason: expect.stringContaining("helmdeck-memory embed"),
    });
    expect(service.requests).toEqual([]);
  });
});

test.each([
  [{}, undefined],
  [{ HELMDECK_EMBEDDINGS_KEEP_ALIVE: "1h30m" }, "1h30m"],
])("with %j, Ollama is asked to keep its model loaded: %s", async (set, expected) => {
  const service = await standIn();
  const env = { HELMDECK_EMBEDDINGS_URL: service.address, ...set };
  const command = await openTestMemory({ env, embedsEntries: false });
  await command.storeFact("main", FACT);
  await command.embed("main", {});
  const told = service.requests.map(({ body }) => (body as { readonly keep_alive?: string }).keep_alive);
  expect(new Set(told)).toEqual(new Set([expected]));
});

describe("embedding on request", () => {
  test("embeds everything, reports the number, and has nothing to do the second time", async () => {
    const service = await standIn();
    const command = await openTestMemory({ embeddings: at(service), embedsEntries: false });
    for (const key of ["a", "b", "c"]) await command.storeFact("main", { key, value: key });
    expect(await command.embed("main", {})).toEqual({ embedded: 3, total: 3, refused: 0 });
    const before = service.requests.length;
    expect(await command.embed("main", {})).toEqual({ embedded: 3, total: 3, refused: 0 });
    expect(service.requests).toHaveLength(before + 1); // whether the model still gives such vectors
    expect(await command.embed("other", {})).toEqual({ embedded: 0, total: 0, refused: 0 });
  });

  test("reports at once that the service does not work, and how much is embedded", async () => {
    const service = await standIn([]);
    const command = await openTestMemory({ embeddings: at(service), embedsEntries: false });
    await command.storeFact("main", FACT);
    expect(await command.embed("main", {})).toMatchObject({
      ...{ embedded: 0, total: 1 },
      failure: { code: "model_missing" },
    });
    expect(service.requests).toHaveLength(1);
  });

  test("of a fact reads no other, has a time limit, and never rejects for a service failure", async () => {
    const service = await standIn();
    const clock = new FakeClock();
    const { timer } = clock;
    const command = await openTestMemory({ embeddings: at(service), embedsEntries: false, timer });
    await command.storeFact("main", { key: "other", value: "Lunch is vegetarian on Mondays." });
    await command.storeFact("main", FACT);
    service.setFault({ kind: "hang" });
    const embedding = command.embedFact("main", FACT.key, { withinMs: 1_500 });
    await service.seen(1);
    clock.advance(1_500);
    await embedding;
    expect(textsOf(service.requests)).not.toContain("vegetarian");
  });

  test("of a missing fact sends nothing", async () => {
    const service = await standIn();
    const command = await openTestMemory({ embeddings: at(service), embedsEntries: false });
    await command.embedFact("main", "no such fact", {});
    expect(service.requests).toEqual([]);
  });

  test("does nothing without a service", async () => {
    const command = await openTestMemory({ embedsEntries: false });
    await command.storeFact("main", FACT);
    await command.embedFact("main", FACT.key, {});
    expect(await command.embed("main", {})).toEqual({ embedded: 0, total: 0, refused: 0 });
  });
});

describe("an idle server", () => {
  test("embeds entries stored before its start, and entries that others store later", async () => {
    const service = await standIn();
    const place = { ...(await tempPlace()), embeddings: at(service) };
    const command = await openTestMemory({ ...place, embedsEntries: false });
    await command.storeFact("main", FACT);
    const clock = new FakeClock();
    const { timer } = clock;
    const idle = await openTestMemory({ ...place, timer });
    await embedStoredEntries(idle);
    await embedded(idle, 1);
    await command.storeFact("main", { key: "lunch", value: "Lunch is vegetarian on Mondays." });
    clock.advance(15_000);
    await embedded(idle, 2);
    expect(textsOf(service.requests)).toContain("vegetarian");
  });

  test("embeds only for its own subjects", async () => {
    const service = await standIn();
    const idle = await openTestMemory({ embeddings: at(service), embedsEntries: true });
    const theirs = { namespace: namespaceOf("other") };
    await idle.store.put(entryOf(FACT.key, FACT.value));
    await idle.store.put(entryOf("lunch", "Lunch is vegetarian on Mondays.", theirs));
    await embedStoredEntries(idle, ["main"]);
    await embedded(idle, 1);
    expect(textsOf(service.requests)).not.toContain("vegetarian");
  });

  test("sends nothing without a service", async () => {
    const idle = await openTestMemory();
    await idle.storeFact("main", FACT);
    await embedStoredEntries(idle);
    expect(await idle.status("main")).toMatchObject({ embeddings: { provider: "none" } });
  });
});

describe("doctor", () => {
  const findingOf = async (memory: Memory) =>
    (await memory.doctor()).findings.find(({ check }) => check === "semantic search");

  test("reports that semantic search is off", async () => {
    expect(await findingOf(await openTestMemory())).toMatchObject({
      level: "ok",
      message: expect.stringMatching(/^Off/),
    });
  });

  test("reports the model, and how much is embedded", async () => {
    const service = await standIn();
    const memory = await openTestMemory({ embeddings: at(service) });
    await memory.storeFact("main", FACT);
    await embedded(memory, 1);
    expect(await findingOf(memory)).toEqual({
      level: "ok",
      check: "semantic search",
      message: `ollama at ${service.address}, model ${MODEL}:latest: answers. Embedded: 1 of 1 entries.`,
    });
  });

  test.each([
    ["a model that is missing", async () => standIn([]), /has no model/, /Pull the model/],
    [
      "a service that is down",
      async () => {
        const service = await startStandInOllama();
        await service.close();
        return service;
      },
      /refuses connections/,
      /up and its address is right/,
    ],
  ])("reports %s, with a remedy", async (_, start, message, remedy) => {
    const memory = await openTestMemory({ embeddings: at(await start()) });
    expect(await findingOf(memory)).toMatchObject({
      level: "warning",
      message: expect.stringMatching(message),
      remedy: expect.stringMatching(remedy),
    });
  });

  test("reports an unusable setting", async () => {
    const memory = await openTestMemory({ embeddings: { provider: "unusable", problem: "x must be y." } });
    expect(await findingOf(memory)).toMatchObject({ level: "warning", message: "x must be y." });
  });
});
