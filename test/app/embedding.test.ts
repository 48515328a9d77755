import { once } from "node:events";
import { chmod, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { embeddingSettingsOfEnv } from "../../app/embedding/embedding-environment.ts";
import {
  type EmbeddingSettings,
  embedWhatIsThere,
  type Memory,
  type OpenMemoryOptions,
} from "../../app/index.ts";
import { type NewEntry, namespaceOf } from "../../engine/index.ts";
import { FakeClock } from "../sidecar/fake-clock.ts";
import { type SeenRequest, type StandInOllama, startStandInOllama } from "../sidecar/stand-in-ollama.ts";
import { openTestMemory, tempFolder, tempPlace } from "./fixtures/memories.ts";

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

/** A question is asked until memory is where the test wants it: embedding goes on in the background and tells nobody. */
async function until<T>(ask: () => Promise<T>, isThere: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (isThere(answer)) return answer;
    await setImmediate(); // what goes on needs its turn
  }
}

async function embedded(memory: Memory, count: number): Promise<void> {
  await until(
    () => memory.status("main"),
    ({ embeddings }) => embeddings !== undefined && "embedded" in embeddings && embeddings.embedded >= count,
  );
}

const factOf = (subject: string, { key, value }: typeof FACT): NewEntry => ({
  namespace: namespaceOf(subject),
  origin: "fact",
  ...{ key, value: Buffer.from(value), category: "user_facts", tags: [] },
});

const textsOf = (requests: readonly SeenRequest[]): string =>
  JSON.stringify(requests.map(({ body }) => body));

describe("settings from the environment", () => {
  test.each([
    [{}, { provider: "none" }],
    [{ HELMDECK_EMBEDDINGS_URL: "" }, { provider: "none" }],
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
  ])("%j cannot be used: the setting is named, no key is shown", async (env, name) => {
    const settings = await embeddingSettingsOfEnv(env);
    expect(settings).toEqual({ provider: "unusable", problem: expect.stringContaining(name) });
    expect(JSON.stringify(settings)).not.toContain("s3cr3t");
  });

  test("a key from a file; not from one that others may read", async () => {
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
  test("finds by meaning what was stored, without anybody searching for it first", async () => {
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

  test("gives the corpus with a query the same ranking", async () => {
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

  test("has it from the environment where nothing else is said", async () => {
    const service = await standIn();
    const memory = await openTestMemory({ env: { HELMDECK_EMBEDDINGS_URL: service.address } });
    expect((await memory.status()).embeddings).toMatchObject({ provider: "ollama", url: service.address });
  });

  test("of a service that is gone, words answer, and the status says what is wrong", async () => {
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
    expect((await memory.status("main")).embeddings).toMatchObject({
      failure: expect.stringContaining("refuses"),
    });
  });

  test("gives up what is under way when it closes, without waiting for a service that hangs", async () => {
    const [asked, hungUp] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const server = createServer((request, response) => {
      request.resume();
      response.once("close", () => hungUp.resolve());
      asked.resolve();
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on TCP
    const memory = await openTestMemory({ embeddings: { provider: "ollama", url, model: MODEL } });
    await memory.storeFact("main", FACT);
    await asked.promise;
    await memory.close();
    await hungUp.promise;
    await expect(memory.search("main", QUESTION)).rejects.toMatchObject({ code: "store_unavailable" });
  });

  test("does not open for settings that cannot be used, but for everything else", async () => {
    const settings: EmbeddingSettings = { provider: "ollama", url: "http://user:s3cr3t@x", model: MODEL };
    const memory = await openTestMemory({ embeddings: settings });
    await memory.storeFact("main", FACT);
    const status = await memory.status("main");
    expect(status).toMatchObject({ state: "ready", mode: "keyword", embeddings: { provider: "unusable" } });
    expect(JSON.stringify([status, await memory.doctor()])).not.toContain("s3cr3t");
    expect(await memory.search("main", { query: "Konflux" })).toMatchObject({ results: [{ key: FACT.key }] });
  });
});

describe("a command, which is gone in a moment", () => {
  async function embeddedBefore(service: StandInOllama): Promise<Partial<OpenMemoryOptions>> {
    const place = { ...(await tempPlace()), embeddings: at(service) };
    const gateway = await openTestMemory(place);
    await gateway.storeFact("main", FACT);
    await embedded(gateway, 1);
    await gateway.close();
    return { ...place, embedsEntries: false };
  }

  test("finds by the vectors that are there", async () => {
    const command = await openTestMemory(await embeddedBefore(await standIn()));
    await command.warm("main");
    expect(await command.search("main", QUESTION)).toMatchObject({
      mode: "hybrid",
      results: [{ key: FACT.key }],
    });
    expect((await command.status("main")).embeddings).toMatchObject({ embedded: 1 });
  });

  test("leaves to others what has none yet, and says how much that is", async () => {
    const service = await standIn();
    const command = await openTestMemory(await embeddedBefore(service));
    await command.storeFact("main", { key: "lunch", value: "Lunch is vegetarian on Mondays." });
    await command.warm("main");
    expect(await command.search("main", QUESTION)).toMatchObject({
      mode: "hybrid",
      reason: "Embedded: 1 of 2 entries so far. The others are found by keywords.",
    });
    expect(textsOf(service.requests)).not.toContain("vegetarian");
  });
});

describe("a command that searches", () => {
  /** Never calls back: whatever waits for it, waits for good. */
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

  test("asks the service for one thing: the question", async () => {
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

  test("knows meaning also where requests of more than one text never end, as on a busy machine", async () => {
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

  test("asks nothing where nothing is embedded, waits for nothing, and says what to do", async () => {
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
    expect(await command.status("main")).toMatchObject({ state: "ready" });
    expect(service.requests).toEqual([]);
  });
});

test.each([
  [{}, undefined],
  [{ HELMDECK_EMBEDDINGS_KEEP_ALIVE: "1h30m" }, "1h30m"],
])("with %j Ollama is told to keep its model loaded: %s", async (set, expected) => {
  const service = await standIn();
  const env = { HELMDECK_EMBEDDINGS_URL: service.address, ...set };
  const command = await openTestMemory({ env, embedsEntries: false });
  await command.storeFact("main", FACT);
  await command.embed("main", {});
  const told = service.requests.map(({ body }) => (body as { readonly keep_alive?: string }).keep_alive);
  expect(new Set(told)).toEqual(new Set([expected]));
});

describe("embedding on request", () => {
  test("embeds all that is there, says how much, and the second time has nothing to ask", async () => {
    const service = await standIn();
    const command = await openTestMemory({ embeddings: at(service), embedsEntries: false });
    for (const key of ["a", "b", "c"]) await command.storeFact("main", { key, value: key });
    expect(await command.embed("main", {})).toEqual({ embedded: 3, total: 3, refused: 0 });
    const before = service.requests.length;
    expect(await command.embed("main", {})).toEqual({ embedded: 3, total: 3, refused: 0 });
    expect(service.requests).toHaveLength(before);
    expect(await command.embed("other", {})).toEqual({ embedded: 0, total: 0, refused: 0 });
  });

  test("says at once that the service does not work, and what of it is there", async () => {
    const service = await standIn([]);
    const command = await openTestMemory({ embeddings: at(service), embedsEntries: false });
    await command.storeFact("main", FACT);
    expect(await command.embed("main", {})).toMatchObject({
      ...{ embedded: 0, total: 1 },
      failure: { code: "model_missing" },
    });
    expect(service.requests).toHaveLength(1);
  });

  test("of a fact reads no other, gives up in time, and never rejects for what the service does", async () => {
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

  test("of a fact that is not there asks for nothing", async () => {
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

describe("a process that stays and that nobody asks anything", () => {
  test("embeds what was stored before it began, and what others store while it runs", async () => {
    const service = await standIn();
    const place = { ...(await tempPlace()), embeddings: at(service) };
    const command = await openTestMemory({ ...place, embedsEntries: false });
    await command.storeFact("main", FACT);
    const clock = new FakeClock();
    const { timer } = clock;
    const idle = await openTestMemory({ ...place, timer });
    await embedWhatIsThere(idle);
    await embedded(idle, 1);
    await command.storeFact("main", { key: "lunch", value: "Lunch is vegetarian on Mondays." });
    clock.advance(15_000);
    await embedded(idle, 2);
    expect(textsOf(service.requests)).toContain("vegetarian");
  });

  test("embeds for whom it serves, and nobody else", async () => {
    const service = await standIn();
    const idle = await openTestMemory({ embeddings: at(service), embedsEntries: true });
    await idle.store.put(factOf("main", FACT));
    await idle.store.put(factOf("other", { key: "lunch", value: "Lunch is vegetarian on Mondays." }));
    await embedWhatIsThere(idle, ["main"]);
    await embedded(idle, 1);
    expect(textsOf(service.requests)).not.toContain("vegetarian");
  });

  test("asks nobody where no service is set", async () => {
    const idle = await openTestMemory();
    await idle.storeFact("main", FACT);
    await embedWhatIsThere(idle);
    expect(await idle.status("main")).toMatchObject({ embeddings: { provider: "none" } });
  });
});

describe("doctor", () => {
  const findingOf = async (memory: Memory) =>
    (await memory.doctor()).findings.find(({ check }) => check === "search by meaning");

  test("says that it is off", async () => {
    expect(await findingOf(await openTestMemory())).toMatchObject({
      level: "ok",
      message: expect.stringMatching(/^Off/),
    });
  });

  test("says which model answers, and how much it knows", async () => {
    const service = await standIn();
    const memory = await openTestMemory({ embeddings: at(service) });
    await memory.storeFact("main", FACT);
    await embedded(memory, 1);
    expect(await findingOf(memory)).toEqual({
      level: "ok",
      check: "search by meaning",
      message: `ollama at ${service.address}, model ${MODEL}:latest: answers. It knows 1 of 1 entries.`,
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
  ])("names %s, with what to do", async (_, start, message, remedy) => {
    const memory = await openTestMemory({ embeddings: at(await start()) });
    expect(await findingOf(memory)).toMatchObject({
      level: "warning",
      message: expect.stringMatching(message),
      remedy: expect.stringMatching(remedy),
    });
  });

  test("names a setting that cannot be used", async () => {
    const memory = await openTestMemory({ embeddings: { provider: "unusable", problem: "x must be y." } });
    expect(await findingOf(memory)).toMatchObject({ level: "warning", message: "x must be y." });
  });
});
