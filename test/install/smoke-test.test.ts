/** The smoke test with a simulated gateway: its requests, its waiting, and its messages on failure. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { EmbeddingSettings } from "../../app/embedding/embedding-settings.ts";
import { openMemory } from "../../app/open-memory.ts";
import { nodeSqliteDriver } from "../../engine/store/sqlite/node-sqlite-driver.ts";
import type { Json, JsonObject } from "../../install/openclaw-json.ts";
import type { Run } from "../../install/run-command.ts";
import { MARKER, QUESTIONS } from "../../install/smoke-test/marker.ts";
import type { RunSmokeTest } from "../../install/steps/run-smoke-test.ts";
import { termOf } from "../../recall/analysis/english.ts";
import { synonymsOf } from "../../recall/lexical/synonyms.ts";
import { startStandInOllama } from "../sidecar/stand-in-ollama.ts";
import { environmentIn, runSteps, SERVICE, testFolder } from "./fixtures.ts";

const STEP: RunSmokeTest = {
  kind: "prove",
  embeddings: undefined,
  facts: SERVICE,
  engineUrl: undefined,
  gateway: "running",
  memory: undefined,
};
const EMBEDS = { ...SERVICE, model: "nomic-embed-text:latest", state: "idle", embedded: 1, waiting: 0 };

let folder: string;
/** The gateway's reports on its memory, in order. The last one stays. */
let statuses: Json[];
/** Whether a question finds the marker. */
let finds: (query: string) => boolean;
let asked: string[];
let stored: JsonObject | undefined;
let forgotten: string[];
let clockMs: number;

beforeEach(() => {
  folder = testFolder();
  statuses = [{ embeddings: EMBEDS }];
  finds = () => true;
  asked = [];
  stored = undefined;
  forgotten = [];
  clockMs = 0;
});

describe("the smoke test", () => {
  it("finds a fact in other words, reports it, and forgets the fact", async () => {
    const { exitCode, steps } = await tested(STEP);
    expect(steps[0]?.error).toBeUndefined();
    expect(exitCode).toBe(0);
    expect(steps[0]?.remark).toMatch(/finds a stored fact in other words \(.+\)$/);
    expect(forgotten).toEqual(["key:install.sh/proof"]);
  });

  it("asks once, without any of the fact's words, their stems or synonyms", async () => {
    await tested(STEP);
    const [other = ""] = asked;
    expect(asked).toHaveLength(1);
    const fact = termsOf(`${stored?.key} ${stored?.value}`);
    const meant = (term: string) => [term, ...synonymsOf(term).keys()];
    expect(termsOf(QUESTIONS.verbatim).every((term) => fact.includes(term))).toBe(true);
    expect(
      termsOf(other)
        .flatMap(meant)
        .filter((term) => fact.includes(term)),
    ).toEqual([]);
    expect(fact.flatMap(meant).filter((term) => termsOf(other).includes(term))).toEqual([]);
  });

  it("asks a question that only a memory with embeddings can answer", async () => {
    const service = await startStandInOllama({ models: [SERVICE.model] });
    try {
      expect(await foundIn({ provider: "none" })).toEqual({ own: true, other: false });
      const embeddings = { ...SERVICE, url: service.address };
      expect(await foundIn(embeddings)).toEqual({ own: true, other: true });
    } finally {
      await service.close();
    }
  });

  it("asks only with the fact's own words without embeddings, and does not query their state", async () => {
    statuses = [];
    const { exitCode, steps } = await tested({ ...STEP, facts: undefined });
    expect(exitCode).toBe(0);
    expect(asked).toHaveLength(1);
    expect(steps[0]?.remark).not.toContain("other words");
  });

  it("waits while the gateway still has its former settings, and while entries are embedded", async () => {
    const working = (embedded: number) => ({
      embeddings: { ...EMBEDS, state: "working", embedded, waiting: 9 - embedded },
    });
    statuses = [
      { embeddings: { provider: "none" } },
      { embeddings: EMBEDS },
      ...[3, 6, 8].map(working),
      { embeddings: { ...EMBEDS, embedded: 9 } },
    ];
    finds = () => statuses.length === 1;
    expect((await tested(STEP)).exitCode).toBe(0);
  });

  it("asks nothing before the fact can be embedded: an old host answers only the first question", async () => {
    const waiting = { embeddings: { ...EMBEDS, state: "working", embedded: 8, waiting: 1 } };
    statuses = [{ embeddings: EMBEDS }, waiting, waiting, { embeddings: { ...EMBEDS, embedded: 9 } }];
    finds = () => asked.length === 1 && statuses.length === 1;
    expect((await tested(STEP)).exitCode).toBe(0);
  });
});

describe("the smoke test with an engine", () => {
  const AT_ENGINE: RunSmokeTest = { ...STEP, facts: undefined, engineUrl: "https://memory.example" };
  const engine = { url: "https://memory.example", tookMs: 3 };

  it("waits until the gateway uses the engine, then stores, finds and forgets through it", async () => {
    statuses = [{ state: "ready" }, { state: "ready", engine }];
    const { exitCode, steps } = await tested(AT_ENGINE);
    expect([exitCode, steps[0]?.remark]).toEqual([0, expect.stringContaining("by its own words")]);
    expect(forgotten).toEqual(["key:install.sh/proof"]);
  });

  it.each<[string, Json, RegExp]>([
    [
      "is down",
      { state: "failed", engine, error: { message: "It cannot be reached." } },
      /cannot be reached/,
    ],
    ["is another one", { state: "ready", engine: { ...engine, url: "https://other" } }, /does not use it/],
    ["is not used", { state: "ready" }, /does not use it/],
  ])("fails if the engine %s, and stores nothing", async (_, status, reason) => {
    statuses = [status];
    const { exitCode, error } = await tested(AT_ENGINE);
    expect(exitCode).toBe(5);
    expect(error).toMatch(reason);
    expect(stored).toBeUndefined();
  });
});

describe("a failing smoke test exits with 5, gives the reason, and leaves no marker", () => {
  it.each<[string, Json, RegExp]>([
    ["no service", { embeddings: { provider: "none" } }, /the gateway runs without embeddings.*Restart/],
    [
      "another service",
      { embeddings: { ...EMBEDS, url: "http://127.0.0.1:9" } },
      /uses nomic-embed-text:latest on http:\/\/127\.0\.0\.1:9.*Restart/,
    ],
    ["another model", { embeddings: { ...EMBEDS, model: "bge-m3:latest" } }, /uses bge-m3:latest/],
    [
      "an unusable setting",
      { embeddings: { provider: "unusable", problem: "embeddings.apiKey could not be read." } },
      /apiKey could not be read\. Restart/,
    ],
    ["failed memory", { state: "failed", error: { message: "The key is wrong." } }, /The key is wrong/],
    ["no answer", null, /does not say/],
  ])("the gateway has %s", async (_, status, reason) => {
    statuses = [status];
    await expectFailure(reason);
    expect(stored).toBeUndefined();
  });

  it.each<[string, JsonObject, RegExp]>([
    ["the service fails", { failure: "connection refused" }, /no embeddings from .*\(connection refused\)/],
    ["embedding makes no progress", { state: "working", waiting: 7 }, /of 8 entries, 7 are not embedded yet/],
    [
      "the model does not match the paraphrase",
      {},
      /nomic-embed-text on \S+ does not match.*--embedding-model/,
    ],
  ])("%s", async (_, status, reason) => {
    statuses = [{ embeddings: { ...EMBEDS, ...status } }];
    finds = (query) => query === QUESTIONS.verbatim;
    await expectFailure(reason);
    expect(clockMs).toBeLessThan(120_000);
    expect(forgotten).toHaveLength(1);
  });

  it("embedding does not finish in time", async () => {
    statuses = Array.from({ length: 5_000 }, (_, embedded) => ({
      embeddings: { ...EMBEDS, state: "working", embedded, waiting: 5_000 },
    }));
    statuses = [{ embeddings: EMBEDS }, ...statuses];
    finds = (query) => query === QUESTIONS.verbatim;
    await expectFailure(/5000 are not embedded yet/);
    expect(clockMs).toBeLessThan(700_000);
  });

  it("keyword search does not find the fact", async () => {
    finds = () => false;
    await expectFailure(/did not find a stored fact by its own words/);
    expect(forgotten).toHaveLength(1);
  });
});

describe("a marker that the gateway cannot forget", () => {
  it("causes a warning, and no local memory is created to forget it in", async () => {
    const place = { databasePath: join(folder, "memory.sqlite"), keyPath: join(folder, "memory.key") };
    forgotten = ["fails"];
    const { exitCode, warnings } = await tested({ ...STEP, memory: place });
    expect(exitCode).toBe(0);
    expect(warnings.join()).toContain("expires within an hour");
    expect(existsSync(place.databasePath) || existsSync(place.keyPath)).toBe(false);
  });
});

/** Searches the real memory, with the marker as its only fact. */
async function foundIn(embeddings: EmbeddingSettings): Promise<{ own: boolean; other: boolean }> {
  const place = join(folder, embeddings.provider);
  const memory = await openMemory({
    ...{ databasePath: join(place, "memory.sqlite"), keyPath: join(place, "key"), env: {} },
    ...{ driver: nodeSqliteDriver, sweepEveryMs: 0, embeddings },
  });
  try {
    await memory.storeFact("main", MARKER);
    const asks = async (query: string) => (await memory.search("main", { query })).results.length > 0;
    const own = await asks(QUESTIONS.verbatim);
    const isEmbedded = async () => {
      const { embeddings: status } = await memory.status("main");
      return status === undefined || !("embedded" in status) || status.embedded > 0;
    };
    while (!(await isEmbedded())) await new Promise(setImmediate);
    return { own, other: await asks(QUESTIONS.paraphrased) };
  } finally {
    await memory.close();
  }
}

function termsOf(text: string): readonly string[] {
  return (text.toLowerCase().match(/[a-z]+/g) ?? []).map(termOf);
}

async function expectFailure(reason: RegExp): Promise<void> {
  const { exitCode, steps } = await tested(STEP);
  expect(steps[0]?.error).toMatch(reason);
  expect(steps[0]?.error).toContain("install.sh --verify");
  expect(exitCode).toBe(5);
}

async function tested(step: RunSmokeTest) {
  const pause = async (ms: number) => {
    clockMs += ms;
  };
  return runSteps([step], await environmentIn(folder, gateway, { pause, now: () => clockMs }));
}

/** `openclaw --version` and `openclaw gateway call …`. */
const gateway: Run = async (_, args) => {
  const [first, , method] = args;
  if (first === "--version") return { exitCode: 0, stdout: "OpenClaw 2026.9.6", stderr: "" };
  const answer = method === "tools.invoke" ? toolAnswer(args[4] ?? "") : nextStatus();
  const exitCode = answer === null ? 1 : 0;
  return {
    exitCode,
    stdout: answer === null ? "" : `a word before\n${JSON.stringify(answer)}\n`,
    stderr: "",
  };
};

function nextStatus(): Json {
  const [status = null] = statuses;
  if (statuses.length > 1) statuses = statuses.slice(1);
  return status;
}

function toolAnswer(params: string): Json {
  const { name, args } = JSON.parse(params) as { name: string; args: Record<string, string> };
  const path = "helmdeck/user_facts/install.sh/proof.md";
  const done = (details: JsonObject) => ({ ok: true, output: { details } });
  if (name === "helmdeck__memory_store") {
    stored = args;
    return done({ path });
  }
  if (name === "helmdeck__memory_forget") {
    if (forgotten[0] === "fails") return { ok: false, error: { message: "gone" } };
    forgotten.push(args.scope ?? "");
    return done({});
  }
  asked.push(args.query ?? "");
  const hit = { path, snippet: "…", score: 0.5 };
  return done({ results: finds(args.query ?? "") ? [{ path: "MEMORY.md" }, hit] : [{ path: "MEMORY.md" }] });
}
