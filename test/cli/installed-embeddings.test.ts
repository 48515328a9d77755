/** The command line beside an installation in the same state folder: it searches, and keeps, as the installer set it for the plugin. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type StandInOllama, startStandInOllama } from "../sidecar/stand-in-ollama.ts";
import { InProcessHome } from "./in-process.ts";
import { runOnTerminal, runPiped } from "./terminal.ts";

const FACT = ["store", "deploy", "We always deploy via Konflux"] as const;
const SEARCH = ["search", "how do we ship to production"] as const;
const NO_MODEL = { kind: "status", status: 404, error: 'model "nomic-embed-text" not found' } as const;

const home = InProcessHome.forEachTest();
let service: StandInOllama;
beforeEach(async () => {
  mkdirSync(home.stateFolder);
  service = await startStandInOllama({ models: ["nomic-embed-text"] });
});
afterEach(async () => {
  await service.close();
});

/** Writes OpenClaw's configuration as the installer leaves it: JSON5, with other settings around ours. */
function configure(config: object): Promise<void> {
  const text = JSON.stringify({ plugins: { entries: { "helmdeck-memory": { enabled: true, config } } } });
  return home.write(".openclaw/openclaw.json", `// mine\n${text}`);
}

const installed = (changes: object = {}) =>
  configure({
    auditTools: "helmdeck",
    embeddings: { provider: "ollama", url: service.address, model: "nomic-embed-text", ...changes },
  });

/** For commands at the same time. */
const piped = (args: readonly string[]) => runPiped(args, { homeFolder: home.folder });

const asked = () => JSON.stringify(service.requests.map(({ body }) => body));

// verifies P-alone-meaning
describe("with the settings of the installation", () => {
  beforeEach(() => installed());

  test("a fact is embedded when it is stored, and a search in other words finds it", async () => {
    await home.run(FACT);
    await home.run(["embed"]);
    expect(asked()).toContain("search_document: deploy: We always deploy via Konflux");
    await expect
      .poll(async () => JSON.parse((await home.run([...SEARCH, "--json"])).stdout))
      .toMatchObject({ mode: "hybrid", results: [{ key: "deploy" }] });
  });

  test.each<readonly [string, Record<string, string>]>([
    ["turns it off", { HELMDECK_EMBEDDINGS_PROVIDER: "none" }],
    ["names another service", { HELMDECK_EMBEDDINGS_URL: "http://127.0.0.1:1" }],
  ])("an environment that %s wins, and the service gets nothing", async (_, env) => {
    await home.run(FACT, { env });
    await home.run(SEARCH, { env });
    expect(service.requests).toEqual([]);
  });

  test("the service gets nothing of another memory", async () => {
    const db = ["--db", home.path("other.sqlite")];
    await home.run([...FACT, ...db]);
    await home.run([...SEARCH, ...db]);
    expect(service.requests).toEqual([]);
  });

  test("the service gets nothing of the usual memory if the plugin keeps its own elsewhere", async () => {
    const kept = join(home.folder, "kept.sqlite");
    await configure({ databasePath: kept, embeddings: { url: service.address } });
    await home.run(FACT);
    expect(service.requests).toEqual([]);
    await home.run([...FACT, "--db", kept]);
    await home.run(["embed", "--db", kept]);
    expect(asked()).toContain("We always deploy via Konflux");
  });
});

test.each<readonly [string, object, Record<string, string>, number]>([
  ["as the plugin does", { lifetimeDays: 365 }, {}, 365],
  ["as the environment says", { lifetimeDays: 365 }, { HELMDECK_MEMORY_LIFETIME_DAYS: "10" }, 10],
  ["the usual time in another memory", { lifetimeDays: 365, databasePath: "/elsewhere.sqlite" }, {}, 90],
  ["the usual time by a setting out of bounds", { lifetimeDays: 366 }, {}, 90],
])("a fact is kept %s", async (_, config, env, days) => {
  await configure(config);
  const { stdout } = await home.run([...FACT, "--json"], { env });
  const life = Date.parse(JSON.parse(stdout).expires_at) - Date.now();
  expect(Math.round(life / 86_400_000)).toBe(days);
});

test("a model that takes longer than 1.5 seconds: search, status and doctor wait for it and say the same, and a person is told", async () => {
  await installed();
  await home.run(FACT);
  await home.run(["embed"]);
  const search = () => runOnTerminal([...SEARCH, "--json"], { homeFolder: home.folder });
  const waits = "Waiting for the model that searches by meaning …\n";
  expect((await search()).stderr).not.toContain(waits);
  service.setLatency(() => 1_600);
  const { stdout, stderr } = await search();
  expect(stderr).toContain(waits);
  expect(JSON.parse(stdout)).toMatchObject({ mode: "hybrid", results: [{ key: "deploy" }] });
  const status = await home.run(["status", "--json"]);
  expect(JSON.parse(status.stdout)).toMatchObject({ mode: "hybrid", embeddings: { embedded: 1 } });
  const doctor = await home.run(["doctor"]);
  expect(doctor.stdout).toContain("answers. Embedded: 1 of 1 entries.");
}, 20_000);

describe("without settings that can be used", () => {
  const search = async () => (await home.run([...SEARCH])).stderr;

  test.each<readonly [string, object, string]>([
    [
      "a key that only OpenClaw can read",
      { provider: "openai-compatible", apiKey: { source: "env", provider: "default", id: "KEY" } },
      "embeddings.apiKey of the plugin in",
    ],
    ["an unknown provider", { provider: "elsewhere" }, "embeddings.provider of the plugin in"],
  ])("%s: status and search say so", async (_, changes, message) => {
    await installed(changes);
    await home.run(FACT);
    const { stdout } = await home.run(["status"]);
    expect(stdout).toMatch(/search: {3}keyword\n {2}meaning: {2}off: /);
    expect(stdout).toContain(message);
    expect(await search()).toContain(`Note: Searched by keywords only: ${message}`);
    expect(service.requests).toEqual([]);
  });

  test("a configuration that cannot be read: search says so, and shows nothing of it", async () => {
    await home.write(".openclaw/openclaw.json", '{ token: "s3cr3t"');
    await home.run(FACT);
    const said = await search();
    expect(said).toContain("openclaw.json cannot be read, so its embedding settings are unknown");
    expect(said).not.toContain("s3cr3t");
  });

  test.each<readonly [string, () => Promise<void>]>([
    ["no OpenClaw", async () => {}],
    ["an installation without embeddings", () => configure({})],
  ])("%s: a search that finds nothing for certain says that it used keywords only", async (_, prepare) => {
    await prepare();
    await home.run(FACT);
    expect(await search()).toContain(
      "Note: Semantic search is off: helmdeck-memory model install turns it on (in OpenClaw: openclaw helmdeck model install).\n",
    );
    expect((await home.run(["search", "konflux"])).stderr).toBe("");
  });
});

describe("status asks the service", () => {
  const status = async () => (await home.run(["status"])).stdout;
  beforeEach(async () => {
    await installed();
    await home.run(FACT);
    await home.run(["embed"]);
  });

  test("which answers", async () => {
    expect(await status()).toMatch(/search: {3}keyword and semantic\n.*: 1 embedded\n/);
  });

  test.each<readonly [string, () => unknown, string]>([
    ["that has ended", () => service.close(), "refuses connections"],
    ["that hangs", () => service.setFault({ kind: "hang" }), "did not answer within"],
    ["without its model", () => service.setFault(NO_MODEL), "has no model"],
  ])(
    "%s, and says that a search uses keywords now",
    async (_, fail, why) => {
      await fail();
      const [text, json] = await Promise.all([piped(["status"]), piped(["status", "--json"])]);
      expect(text.stdout).toContain("  search:   keyword only, because semantic search fails now\n");
      expect(text.stdout).toMatch(new RegExp(`last failure: .*${why}`));
      expect(JSON.parse(json.stdout).mode).toBe("keyword");
    },
    20_000,
  );

  test("that hangs, and doctor says to look at the service", async () => {
    service.setFault({ kind: "hang" });
    const { stdout } = await home.run(["doctor"]);
    expect(stdout).toMatch(
      /semantic search: .*did not answer within .*\n.*Check that the embedding service is up/,
    );
  });
});
