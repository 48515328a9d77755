/** The server context as a server uses it: packs, pipelines, memory and audit together, in each state of memory. */
import { access, mkdir, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { betterSqliteDriver } from "../../engine/store/sqlite/better-sqlite-driver.ts";
import {
  type OpenServerContextOptions,
  openServerContext,
  type ServerContextTrouble,
} from "../../packs/server-context.ts";
import { NOW, openTestMemory, tempFolder, tempPlace } from "../app/fixtures/memories.ts";
import { startGitHub } from "./shipped/github-server.ts";

const ANA = { caller: "ana", authenticated: true } as const;

async function open(options: Partial<OpenServerContextOptions> = {}) {
  const context = await openServerContext({
    ...(await tempPlace()),
    ...{ env: {}, driver: betterSqliteDriver, now: () => NOW, sweepEveryMs: 0, withoutKey: "make" },
    ...options,
  });
  onTestFinished(() => context.close());
  const run = (pack: string, input: object) => context.packs.run({ ...ANA, pack, input });
  const start = (inputs: object, pipeline = "remember") =>
    context.pipelines.start({ ...ANA, pipeline, inputs });
  /** The run of a pipeline, when it has ended. */
  const ended = async (...given: Parameters<typeof start>) =>
    context.pipelines.ended("ana", (await start(...given)).runId);
  return { context, memory: context.memory, run, start, ended };
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

/** A pipeline folder with one file. */
async function folderWith(yaml: string): Promise<string> {
  const folder = await tempFolder();
  await writeFile(join(folder, "own.yaml"), yaml);
  return folder;
}

const REMEMBER = `
id: remember
description: Remembers a word.
inputs: { word: {}, title: { required: false } }
steps:
  - id: store
    pack: helmdeck.memory_store
    with: { key: word, value: "\${{ inputs.word }}" }
`;

/** A GitHub with two open issues and one pull request, and the settings that lead to it. */
async function gitHubWithIssues() {
  const { baseUrl, asked } = await startGitHub([
    { number: 1 },
    { number: 2 },
    { number: 3, pull_request: {} },
  ]);
  return { packSettings: { github: { baseUrl } }, asked };
}

describe("with memory", () => {
  test("a stored fact is found, and the shipped packs are available", async () => {
    const { context, memory, run } = await open();
    expect(context.memoryState).toMatchObject({ state: "ready" });
    expect(context.packs.list().map(({ name }) => name)).toEqual(
      expect.arrayContaining(["github.list_issues", "helmdeck.memory_corpus", "helmdeck.memory_store"]),
    );
    await run("helmdeck.memory_store", { key: "deploy", value: "By Konflux." });
    const { output } = await run("helmdeck.memory_corpus", { query: "konflux" });
    expect(output).toMatchObject({ chunks: [{ docid: "user_facts/deploy" }] });
    expect((await memory.getFact("ben", { key: "deploy" })) ?? "nothing").toBe("nothing");
  });

  test("the shipped pipeline counts issues and stores the number, and its runs are in the audit and the defaults", async () => {
    const { packSettings, asked } = await gitHubWithIssues();
    const { memory, run, ended } = await open({ packSettings });
    const inputs = { owner: "openclaw", repo: "openclaw" };
    expect(await ended(inputs, "github.open-issues")).toMatchObject({
      state: "succeeded",
      output: { open_issues: 2, truncated: false, remembered_as: "github/openclaw/openclaw/open-issues" },
    });
    const { results } = await memory.search("ana", { query: "how many open issues has openclaw" });
    expect(results[0]).toMatchObject({ key: "github/openclaw/openclaw/open-issues", category: "projects" });
    const defaults = await memory.defaults("ana");
    expect(defaults.pipelines).toEqual([{ id: "github.open-issues", runs: 1, last_used_unix: NOW / 1_000 }]);
    expect(defaults.packs).toMatchObject([{ id: "github.list_issues", calls: 1 }]);
    expect(defaults.recent.map(({ kind, outcome }) => [kind, outcome]).sort()).toEqual([
      ["pack", "ok"],
      ["pipeline", "succeeded"],
    ]);
    expect((await memory.defaults("ben")).recent).toEqual([]);
    await run("github.list_issues", { ...inputs, limit: 1000, state: "open" });
    expect(asked).toHaveLength(1); // the second run was answered from the cache
  });

  test("a failed and a refused run have one audit row each", async () => {
    const yaml = REMEMBER.replace("word: {}", "word: { default: '' }");
    const { memory, start, ended } = await open({ pipelinesFolder: await folderWith(yaml) });
    const error = { code: "invalid_input" };
    expect(await ended({ title: "a title" })).toMatchObject({ state: "failed", error });
    await expect(start({ no: 1 })).rejects.toMatchObject(error);
    expect((await memory.defaults("ana")).recent).toMatchObject([
      { kind: "pipeline", id: "remember", outcome: "failed", learn_inputs: { title: "a title" } },
    ]);
  });
});

test("the free text in a run's rows is limited to learnable inputs, 200 characters each, for packs and pipelines", async () => {
  const { memory, run, ended } = await open({ pipelinesFolder: await folderWith(REMEMBER) });
  const title = "é".repeat(500);
  await ended({ word: "hunter2", title });
  const refused = run("github.list_issues", { title, body: "hunter2" });
  await expect(refused).rejects.toMatchObject({ code: "invalid_input" });
  const { recent } = await memory.defaults("ana");
  expect(recent.map(({ id, learn_inputs }) => [id, learn_inputs]).sort()).toEqual([
    ["github.list_issues", { title: "é".repeat(200) }],
    ["remember", { title: "é".repeat(200) }],
  ]);
  expect(JSON.stringify(recent)).not.toContain("hunter2");
});

test("closing finishes accepted runs, with their rows and stored facts", async () => {
  const place = await tempPlace();
  const { context, memory, run, start } = await open({
    ...place,
    pipelinesFolder: await folderWith(REMEMBER),
  });
  for (let i = 0; i < 5; i++) await start({ word: `word ${i}` });
  await context.close();
  await context.close();
  const again = await openTestMemory(place);
  expect(await again.status("ana")).toMatchObject({ subject: { facts: 1, auditRows: 5 } });
  await expect(run("helmdeck.memory_store", {})).rejects.toMatchObject({ code: "cancelled" });
  await expect(memory.getFact("ana", { key: "word" })).rejects.toMatchObject({ code: "store_unavailable" });
});

test("without a key and data everything works in this process, and nothing is written to disk", async () => {
  const place = await tempPlace();
  const { context, memory, ended } = await open({
    ...place,
    withoutKey: "ephemeral",
    pipelinesFolder: await folderWith(REMEMBER),
  });
  expect(context.memoryState.state).toBe("ephemeral");
  await ended({ word: "zebrafish" });
  expect((await memory.search("ana", { query: "zebrafish" })).results).toHaveLength(1);
  expect((await memory.defaults("ana")).pipelines).toMatchObject([{ id: "remember" }]);
  await context.close();
  const work = join(dirname(place.keyPath), "helmdeck-memory-work");
  for (const path of [place.databasePath, place.keyPath, work])
    expect([path, await exists(path)]).toEqual([path, false]);
});

describe("with an invalid key", () => {
  const broken = { env: { HELMDECK_MEMORY_KEY: "none" } };

  test("packs that need no memory run as usual, uncached, and it is told that they leave no record", async () => {
    const { packSettings, asked } = await gitHubWithIssues();
    const troubles: ServerContextTrouble[] = [];
    const onTrouble = (trouble: ServerContextTrouble) => troubles.push(trouble);
    const { context, run } = await open({ ...broken, packSettings, onTrouble });
    expect(context.memoryState).toMatchObject({ state: "unavailable", error: { code: "key_malformed" } });
    for (let i = 0; i < 2; i++) {
      const answer = await run("github.list_issues", { owner: "a", repo: "b" });
      expect(answer).toMatchObject({ output: { issues: [{}, {}] }, cached: false });
    }
    expect(asked).toHaveLength(2);
    expect(new Set(troubles.map(({ what, error }) => `${what}: ${error.code}`))).toEqual(
      new Set(["cache: memory_unavailable", "audit: memory_unavailable"]),
    );
  });

  test("everything that needs memory fails with the reason", async () => {
    const { memory, run, ended } = await open({ ...broken, pipelinesFolder: await folderWith(REMEMBER) });
    const error = {
      code: "memory_unavailable",
      message: expect.stringContaining("HELMDECK_MEMORY_KEY is not a memory key"),
    };
    await expect(run("helmdeck.memory_store", { key: "k", value: "v" })).rejects.toMatchObject(error);
    await expect(memory.defaults("ana")).rejects.toMatchObject(error);
    expect(await ended({ word: "w" })).toMatchObject({ state: "failed", error });
  });
});

describe("opening", () => {
  const artifact = { name: "a.txt", mediaType: "text/plain", content: Buffer.from("hello") };

  test("is refused for an invalid pipeline, with file and line, and closes the memory", async () => {
    const place = await tempPlace();
    const pipelinesFolder = await folderWith(`${REMEMBER}when: never\n`);
    await expect(open({ ...place, pipelinesFolder })).rejects.toMatchObject({
      code: "invalid_input",
      details: { file: join(pipelinesFolder, "own.yaml"), line: 9 },
    });
    expect(await exists(`${place.databasePath}-wal`)).toBe(false); // the last connection to close removes it
  });

  test("works if the folder for sessions and artifacts cannot be created; their use then fails with a reason", async () => {
    const folder = await tempFolder();
    await writeFile(join(folder, "file"), "");
    const { context, memory } = await open({ workFolder: join(folder, "file", "work") });
    await memory.storeFact("ana", { key: "k", value: "v" });
    const refused = context.artifacts.put("ana", artifact);
    await expect(refused).rejects.toMatchObject({ code: "artifact_refused" });
  });

  test("returns artifacts of an earlier server context, to their caller only", async () => {
    const place = await tempPlace();
    const { context: first } = await open(place);
    const { id } = await first.artifacts.put("ana", artifact);
    await first.close();
    const { context: second } = await open(place);
    expect((await second.artifacts.get("ana", id))?.ref.name).toBe("a.txt");
    expect(await second.artifacts.get("ben", id)).toBeUndefined();
  });

  test("deletes the sessions that a killed server left", async () => {
    const place = await tempPlace();
    const left = join(dirname(place.keyPath), "helmdeck-memory-work", "sessions", "server-0123456789abcdef");
    await mkdir(join(left, "session"), { recursive: true });
    const owner = { pid: 999_999_999, began: "long ago", host: hostname() };
    await writeFile(join(left, "owner.json"), JSON.stringify(owner));
    await open(place);
    expect(await exists(left)).toBe(false);
  });
});
