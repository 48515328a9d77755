/** Semantic search with only the command line: store and import embed entries, and `embed` does the rest. */
import { chmodSync } from "node:fs";
import { dirname } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type StandInOllama, startStandInOllama } from "../sidecar/stand-in-ollama.ts";
import { finish } from "./command.ts";
import { InProcessHome } from "./in-process.ts";

const home = InProcessHome.forEachTest();
let service: StandInOllama;
let env: Record<string, string>;
beforeEach(async () => {
  service = await startStandInOllama({ models: ["nomic-embed-text"] });
  env = { HELMDECK_EMBEDDINGS_URL: service.address };
});
afterEach(async () => {
  await service.close();
});

const QUESTION = "how do we ship to production";
const DOCUMENT = "search_document: deploy: We always deploy via Konflux";
const FACT = ["store", "deploy", "We always deploy via Konflux"] as const;

async function json(...args: readonly string[]): Promise<unknown> {
  const { code, stdout } = await home.run([...args, "--json"], { env });
  expect(code).toBe(0);
  return JSON.parse(stdout);
}

/** Tries several times, because a command soon gives up on a very busy machine. */
async function runUntilSent(args: readonly string[], text: string): Promise<void> {
  for (let tries = 0; tries < 5 && !inputs().includes(text); tries += 1) await home.run(args, { env });
  expect(inputs()).toContain(text);
}

/** Returns a semantic search and its requests to the service. On a busy machine, the first search may run out of time. */
async function searchByMeaning() {
  for (;;) {
    const before = service.requests.length;
    const answer = await json("search", QUESTION);
    const asked = service.requests.slice(before).map(({ body }) => body);
    if ((answer as { readonly mode: string }).mode === "hybrid") return { answer, asked };
  }
}

const inputs = () => JSON.stringify(service.requests.map(({ body }) => body));

describe("store", () => {
  test("embeds the fact, and a search in other words finds it with one request for each reading of the question", async () => {
    await runUntilSent(FACT, DOCUMENT);
    const { answer, asked } = await searchByMeaning();
    expect(answer).toMatchObject({ results: [{ key: "deploy" }] });
    expect(asked).toMatchObject([
      { input: [`search_query: ${QUESTION}`] },
      { input: ["search_query: how do we deploy to production"] },
    ]);
  });

  test.each([
    { kind: "hang" },
    { kind: "status", status: 500 },
    { kind: "reset" },
    { kind: "html" },
  ] as const)("is acknowledged, and done, with a service that answers %o", async (fault) => {
    service.setFault(fault);
    const before = performance.now();
    const { code, stdout, stderr } = await home.run(FACT, { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(performance.now() - before).toBeLessThan(4_500); // it waits for 1.5 s
    expect(stdout).toMatch(/^Stored deploy /);
  });

  test("is acknowledged before the service answers", async () => {
    service.setFault({ kind: "hang" });
    const child = home.start(FACT, { env });
    const ended = finish(child);
    const acknowledged = new Promise<string>((resolve) => {
      child.stdout.once("data", (data) => resolve(`${data}`));
    });
    const first = await Promise.race([acknowledged, service.seen(1).then(() => "The service was asked.")]);
    expect(first).toMatch(/^Stored deploy /);
    expect(await ended).toMatchObject({ code: 0 });
  });
});

describe("import", () => {
  test("embeds as much as the time allows", async () => {
    await home.write("facts.jsonl", '{"key":"deploy","value":"We always deploy via Konflux"}\n');
    await runUntilSent(["import", "facts.jsonl"], DOCUMENT);
    expect((await searchByMeaning()).answer).toMatchObject({ results: [{ key: "deploy" }] });
  });

  test("says how to embed the rest", async () => {
    service.setFault({ kind: "hang" });
    await home.write("facts.jsonl", '{"key":"a","value":"b"}\n{"key":"c","value":"d"}\n');
    const { code, stderr } = await home.run(["import", "facts.jsonl"], { env });
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^Note: 0 of 2 entries are embedded so far\. helmdeck-memory embed does the rest now;/,
    );
  });
});

describe("search", () => {
  test("without vectors names the command that creates them, and that command works", async () => {
    await home.run(FACT);
    service.setFault({ kind: "status", status: 500 });
    const { stdout, stderr } = await home.run(["search", "konflux"], { env });
    expect(stdout).toContain("We always deploy via Konflux");
    expect(stderr).toBe(
      "Note: Searched by keywords only: no entry is embedded yet. Run helmdeck-memory embed to do it now; a running gateway or server does it in the background.\n",
    );
    expect(inputs()).not.toContain("search_query");
    service.setFault(undefined);
    expect(await json("embed")).toMatchObject({ embedded: 1, embedded_now: 1, total: 1, refused: 0 });
    await searchByMeaning();
  });

  test("embeds entries that others stored without a service, after its answer", async () => {
    await home.run(FACT);
    await runUntilSent(["search", "konflux"], DOCUMENT);
  });
});

test("of a read-only database sends nothing, because vectors could not be stored", async () => {
  await home.run(FACT);
  chmodSync(home.databasePath, 0o400);
  chmodSync(dirname(home.databasePath), 0o500);
  home.handToUnprivileged();
  const { stdout } = await home.run(["search", "konflux"], { env });
  expect(stdout).toContain("We always deploy via Konflux");
  const embedding = await home.run(["embed"], { env });
  expect(embedding).toMatchObject({ code: 1, stderr: expect.stringMatching(/^store_readonly: /) });
  expect(service.requests).toEqual([]);
});

describe("embed", () => {
  test("reports what is embedded and by which model, for one caller only", async () => {
    await home.run(FACT);
    await home.run([...FACT, "--caller", "work"]);
    const { stdout, stderr, code } = await home.run(["embed"], { env });
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
    expect(stdout).toBe(
      `Embedded: 1 of 1 entries of main, 1 of them embedded now (ollama at ${service.address}, model nomic-embed-text:latest).\n`,
    );
    expect(await json("embed", "--caller", "work")).toMatchObject({ embedded_now: 1 });
    expect(await json("embed", "--caller", "work")).toMatchObject({ embedded_now: 0, embedded: 1 });
  });

  test("embeds again what the model of this name made with other dimensions, and needs no service when it cannot ask", async () => {
    for (const key of ["a", "b"]) await home.run(["store", key, key]);
    await json("embed");
    service.setFault({ kind: "wrong_dimensions" });
    expect(await json("embed")).toMatchObject({ embedded_now: 2, embedded: 2, total: 2 });
    expect(await json("embed")).toMatchObject({ embedded_now: 0, embedded: 2 });
    service.setFault({ kind: "reset" });
    expect(await json("embed")).toMatchObject({ embedded_now: 0, embedded: 2 });
  });

  test("continues after an interruption", async () => {
    for (const key of ["a", "b"]) await home.run(["store", key, key]);
    service.setFault({ kind: "hang", times: 1 });
    const child = home.start(["embed"], { env });
    const ended = finish(child);
    await service.seen(1);
    child.kill("SIGINT");
    expect(await ended).toMatchObject({ signal: "SIGINT" });
    expect(await json("embed")).toMatchObject({ embedded: 2, total: 2 });
  });

  test.each([
    [
      {},
      /^invalid_input: The built-in model is not installed: .*\. Run: helmdeck-memory model install\. Or set HELMDECK_EMBEDDINGS_URL/,
    ],
    [
      { HELMDECK_EMBEDDINGS_PROVIDER: "elsewhere" },
      /^invalid_input: HELMDECK_EMBEDDINGS_PROVIDER must be one of/,
    ],
    [
      { HELMDECK_EMBEDDINGS_URL: "http://127.0.0.1:1" },
      /^embeddings_unavailable: .*0 of 1 entries.*Run it again to continue/,
    ],
  ])("with %j says what is wrong and what to do", async (wrong, message) => {
    await home.run(FACT);
    const { code, stdout, stderr } = await home.run(["embed"], { env: wrong });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd()).not.toContain("\n");
  });
});

describe("mcp", () => {
  test("embeds earlier entries even without any call", async () => {
    await home.run(FACT);
    const child = home.start(["mcp"], { env });
    const ended = finish(child);
    while (!inputs().includes("We always deploy via Konflux"))
      await service.seen(service.requests.length + 1);
    child.stdin.end();
    expect(await ended).toMatchObject({ code: 0 });
  });
});
