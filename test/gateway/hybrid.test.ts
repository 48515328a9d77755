/** Semantic search in the real gateway, with a stand-in for Ollama: a paraphrase finds its fact, and the service may stop and restart. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OpenClawHost, startOpenClaw } from "../../scripts/openclaw-host/openclaw-host.ts";
import { type StandInOllama, startStandInOllama } from "../sidecar/stand-in-ollama.ts";
import { NOTES } from "./setup.ts";
import { type Hit, hitsOf, member, patchConfig, resultOfSetUp } from "./shared.ts";

const MODEL = "nomic-embed-text";
const KEY = "deploy-preference";
const PATH = `helmdeck/user_facts/${KEY}.md`;
/** They share no word. The stand-in gives both the topic of deployment. */
const FACT = "I always deploy via Konflux.";
const PARAPHRASE = "how do we ship to production";
const IN_ITS_WORDS = "deploy via Konflux";
/** Queries for the time without the service. They are new, because memory keeps the vectors of earlier queries. */
const NEW_WORDS = ["always deploy via Konflux", "deploy Konflux"] as const;
const NEW_PARAPHRASES = ["ship to production", "when is it shipped to production"] as const;
/** Well below the host's own limit of 30 s. Ours is 1.5 s; the margin is for a busy machine. */
const NOT_THE_HOSTS_MS = 10_000;
/** After failures, the service is not asked for a while: after five failures for 5 s, then for longer. */
const RECOVERED_WITHIN_MS = 60_000;

let host: OpenClawHost;
let service: StandInOllama;

beforeAll(async () => {
  service = await startStandInOllama({ models: [MODEL] });
  const { tarball, runtime } = await resultOfSetUp();
  host = await startOpenClaw({ plugins: [tarball], notes: NOTES, runtime });
  await configure({ provider: "ollama", url: service.address, model: MODEL });
  for (const [key, value] of Object.entries({
    [KEY]: FACT,
    "food/lunch": "Lunch is vegetarian on Mondays.",
    "health/dentist": "The dentist is in Lime Street.",
  })) {
    expect((await host.invokeTool("helmdeck__memory_store", { key, value })).status).toBe(200);
  }
});

afterAll(async () => {
  await host?.stop();
  await service?.close();
});

describe("a paraphrased question", () => {
  it("finds its fact by semantic search soon after it was stored, and no unrelated one", async () => {
    const [hit, ...others] = await untilFound(PARAPHRASE);
    expect(hit).toMatchObject({ path: PATH });
    expect(hit?.score).toBeGreaterThanOrEqual(0.5);
    expect(others).toEqual([]);
    expect((await search("when does the marathon begin")).filter(isSure)).toEqual([]);
  });

  it("finds it on the command line too, and explains the score", async () => {
    const { code, stdout } = await host.openclaw(["helmdeck", "search", "--explain", "--json", PARAPHRASE]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      mode: "hybrid",
      results: [
        {
          path: PATH,
          parts: { nearness: { value: expect.any(Number), weight: expect.any(Number) } },
        },
      ],
    });
  });

  it("has its model and coverage shown by status", async () => {
    const status = await host.rpc("helmdeck.status", {});
    expect(member(status, "mode")).toBe("hybrid");
    expect(member(status, "embeddings")).toMatchObject({
      provider: "ollama",
      model: `${MODEL}:latest`,
      embedded: 3,
      waiting: 0,
    });
  });
});

describe("a service that", () => {
  it("hangs: the same call uses keyword search and gives the reason within the plugin's time limit", async () => {
    service.setFault({ kind: "hang" });
    const started = performance.now();
    const hits = await search(NEW_WORDS[0]);
    expect(performance.now() - started).toBeLessThan(NOT_THE_HOSTS_MS);
    expect(hits).toMatchObject([{ path: PATH }]);
    expect(JSON.stringify(hits)).toContain("the embedding service did not answer in time");
    expect((await search(NEW_PARAPHRASES[0])).filter(isSure)).toEqual([]);
  });

  it("stops: keyword search answers with the reason; after a restart, semantic search works again", async () => {
    const { port } = new URL(service.address);
    const before = host.pid;
    await service.close();
    const hits = await search(NEW_WORDS[1]);
    expect(hits).toMatchObject([{ path: PATH }]);
    expect(JSON.stringify(hits)).toContain("Searched by keywords only");
    service = await startStandInOllama({ models: [MODEL], port: Number(port) });
    const [hit] = await untilFound(NEW_PARAPHRASES[1], RECOVERED_WITHIN_MS);
    expect(hit).toMatchObject({ path: PATH });
    expect(host.pid).toBe(before);
  });

  it("is removed from the configuration: keyword search only, at once", async () => {
    await configure({ provider: "none" });
    expect((await search(PARAPHRASE)).filter(isSure)).toEqual([]);
    expect(await search(IN_ITS_WORDS)).toMatchObject([{ path: PATH }]);
    expect(member(await host.rpc("helmdeck.status", {}), "embeddings")).toEqual({ provider: "none" });
  });
});

async function configure(embeddings: Readonly<Record<string, string>>): Promise<void> {
  await patchConfig(host, { plugins: { entries: { "helmdeck-memory": { config: { embeddings } } } } });
}

/** Synonyms alone produce only possible hits. */
const isSure = ({ score }: Hit) => score >= 0.5;

async function search(query: string): Promise<readonly Hit[]> {
  return hitsOf(await host.invokeTool("memory_search", { query })).filter(
    ({ corpus }) => corpus === "helmdeck",
  );
}

/** Embedding continues in the background, and the gateway does not report its end. Searches until it is done or the time is up. */
async function untilFound(query: string, withinMs = 60_000): Promise<readonly Hit[]> {
  const until = performance.now() + withinMs;
  for (;;) {
    const hits = await search(query);
    if (hits.some(isSure) || performance.now() > until) return hits;
  }
}
