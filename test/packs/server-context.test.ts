/** The server context as a server uses it: packs, pipelines, memory and audit together, in each state of memory. */
import { access, mkdir, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { betterSqliteDriver } from "../../engine/store/sqlite/better-sqlite-driver.ts";
import {
  type OpenServerContextOptions,
  openServerContext,
  type ServerContext,
  type ServerContextTrouble,
} from "../../packs/server-context.ts";
import { NOW, openTestMemory, tempFolder, tempPlace } from "../app/fixtures/memories.ts";

const ANA = { caller: "ana", authenticated: true } as const;

async function openTestServerContext(
  options: Partial<OpenServerContextOptions> = {},
): Promise<ServerContext> {
  const place = await tempPlace();
  const serverContext = await openServerContext({
    ...place,
    env: {},
    driver: betterSqliteDriver,
    now: () => NOW,
    sweepEveryMs: 0,
    withoutKey: "make",
    ...options,
  });
  onTestFinished(() => serverContext.close());
  return serverContext;
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

/** Implements the part of GitHub's API for a list of two open issues and one pull request. */
async function fakeGitHub(): Promise<{ readonly baseUrl: string; readonly requests: string[] }> {
  const requests: string[] = [];
  const issue = (number: number, more: object = {}) => ({
    number,
    title: `Issue ${number}`,
    state: "open",
    user: { login: "someone" },
    labels: [],
    comments: 0,
    created_at: "2026-11-01T00:00:00Z",
    updated_at: "2026-11-01T00:00:00Z",
    html_url: `http://localhost/${number}`,
    ...more,
  });
  const server: Server = createServer((request, response) => {
    requests.push(request.url ?? "");
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify([issue(1), issue(2), issue(3, { pull_request: {} })]));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo; // a listening TCP server has this form
  return { baseUrl: `http://127.0.0.1:${port}`, requests };
}

describe("with memory", () => {
  test("a stored fact is found, and the shipped packs are available", async () => {
    const serverContext = await openTestServerContext();
    expect(serverContext.memoryState).toMatchObject({ state: "ready" });
    expect(serverContext.packs.list().map(({ name }) => name)).toEqual(
      expect.arrayContaining(["github.list_issues", "helmdeck.memory_corpus", "helmdeck.memory_store"]),
    );
    await serverContext.packs.run({
      ...ANA,
      pack: "helmdeck.memory_store",
      input: { key: "deploy", value: "By Konflux." },
    });
    const { output } = await serverContext.packs.run({
      ...ANA,
      pack: "helmdeck.memory_corpus",
      input: { query: "konflux" },
    });
    expect(output).toMatchObject({ chunks: [{ docid: "user_facts/deploy" }] });
    expect((await serverContext.memory.getFact("ben", { key: "deploy" })) ?? "nothing").toBe("nothing");
  });

  test("the shipped pipeline counts issues and stores the number, and its runs are in the audit and the defaults", async () => {
    const github = await fakeGitHub();
    const serverContext = await openTestServerContext({
      packSettings: { github: { baseUrl: github.baseUrl } },
    });
    const inputs = { owner: "openclaw", repo: "openclaw" };
    const { runId } = await serverContext.pipelines.start({ ...ANA, pipeline: "github.open-issues", inputs });
    expect(await serverContext.pipelines.ended("ana", runId)).toMatchObject({
      state: "succeeded",
      output: { open_issues: 2, truncated: false, remembered_as: "github/openclaw/openclaw/open-issues" },
    });
    const { results } = await serverContext.memory.search("ana", {
      query: "how many open issues has openclaw",
    });
    expect(results[0]).toMatchObject({ key: "github/openclaw/openclaw/open-issues", category: "projects" });
    const defaults = await serverContext.memory.defaults("ana");
    expect(defaults.pipelines).toEqual([{ id: "github.open-issues", runs: 1, last_used_unix: NOW / 1_000 }]);
    expect(defaults.packs).toMatchObject([{ id: "github.list_issues", calls: 1 }]);
    expect(defaults.recent.map(({ kind, outcome }) => [kind, outcome]).sort()).toEqual([
      ["pack", "ok"],
      ["pipeline", "succeeded"],
    ]);
    expect((await serverContext.memory.defaults("ben")).recent).toEqual([]);
    await serverContext.packs.run({
      ...ANA,
      pack: "github.list_issues",
      input: { ...inputs, limit: 1000, state: "open" },
    });
    expect(github.requests).toHaveLength(1); // the second run was answered from the cache
  });

  test("a failed and a refused run have one audit row each", async () => {
    const serverContext = await openTestServerContext({
      pipelinesFolder: await folderWith(REMEMBER.replace("word: {}", "word: { default: '' }")),
    });
    const { runId } = await serverContext.pipelines.start({
      ...ANA,
      pipeline: "remember",
      inputs: { title: "a title" },
    });
    expect(await serverContext.pipelines.ended("ana", runId)).toMatchObject({
      state: "failed",
      error: { code: "invalid_input" },
    });
    await expect(
      serverContext.pipelines.start({ ...ANA, pipeline: "remember", inputs: { no: 1 } }),
    ).rejects.toMatchObject({
      code: "invalid_input",
    });
    expect((await serverContext.memory.defaults("ana")).recent).toMatchObject([
      { kind: "pipeline", id: "remember", outcome: "failed", learn_inputs: { title: "a title" } },
    ]);
  });
});

describe("the free text in a run's rows", () => {
  test("is limited to learnable inputs, 200 characters each, for packs and pipelines", async () => {
    const serverContext = await openTestServerContext({ pipelinesFolder: await folderWith(REMEMBER) });
    const long = "é".repeat(500);
    const { runId } = await serverContext.pipelines.start({
      ...ANA,
      pipeline: "remember",
      inputs: { word: "hunter2", title: long },
    });
    await serverContext.pipelines.ended("ana", runId);
    await expect(
      serverContext.packs.run({
        ...ANA,
        pack: "github.list_issues",
        input: { title: long, body: "hunter2" },
      }),
    ).rejects.toMatchObject({ code: "invalid_input" });
    const { recent } = await serverContext.memory.defaults("ana");
    expect(recent.map(({ id, learn_inputs }) => [id, learn_inputs]).sort()).toEqual([
      ["github.list_issues", { title: "é".repeat(200) }],
      ["remember", { title: "é".repeat(200) }],
    ]);
    expect(JSON.stringify(recent)).not.toContain("hunter2");
  });
});

describe("closing", () => {
  test("finishes accepted runs, with their rows and stored facts", async () => {
    const place = await tempPlace();
    const serverContext = await openTestServerContext({
      ...place,
      pipelinesFolder: await folderWith(REMEMBER),
    });
    for (let i = 0; i < 5; i++) {
      await serverContext.pipelines.start({ ...ANA, pipeline: "remember", inputs: { word: `word ${i}` } });
    }
    await serverContext.close();
    await serverContext.close();
    const memory = await openTestMemory(place);
    expect(await memory.status("ana")).toMatchObject({ subject: { facts: 1, auditRows: 5 } });
    await expect(
      serverContext.packs.run({ ...ANA, pack: "helmdeck.memory_store", input: {} }),
    ).rejects.toMatchObject({
      code: "cancelled",
    });
    await expect(serverContext.memory.getFact("ana", { key: "word" })).rejects.toMatchObject({
      code: "store_unavailable",
    });
  });
});

describe("without a key and data", () => {
  test("everything works in this process, and nothing is written to disk", async () => {
    const place = await tempPlace();
    const serverContext = await openTestServerContext({
      ...place,
      withoutKey: "ephemeral",
      pipelinesFolder: await folderWith(REMEMBER),
    });
    expect(serverContext.memoryState.state).toBe("ephemeral");
    const { runId } = await serverContext.pipelines.start({
      ...ANA,
      pipeline: "remember",
      inputs: { word: "zebrafish" },
    });
    await serverContext.pipelines.ended("ana", runId);
    expect((await serverContext.memory.search("ana", { query: "zebrafish" })).results).toHaveLength(1);
    expect((await serverContext.memory.defaults("ana")).pipelines).toMatchObject([{ id: "remember" }]);
    await serverContext.close();
    for (const path of [
      place.databasePath,
      place.keyPath,
      join(dirname(place.keyPath), "helmdeck-memory-work"),
    ]) {
      expect([path, await exists(path)]).toEqual([path, false]);
    }
  });
});

describe("with an invalid key", () => {
  const broken = { env: { HELMDECK_MEMORY_KEY: "none" } };

  test("packs that need no memory run as usual, uncached, and it is told that they leave no record", async () => {
    const github = await fakeGitHub();
    const troubles: ServerContextTrouble[] = [];
    const serverContext = await openTestServerContext({
      ...broken,
      packSettings: { github: { baseUrl: github.baseUrl } },
      onTrouble: (trouble) => troubles.push(trouble),
    });
    expect(serverContext.memoryState).toMatchObject({
      state: "unavailable",
      error: { code: "key_malformed" },
    });
    const request = { ...ANA, pack: "github.list_issues", input: { owner: "a", repo: "b" } };
    for (let i = 0; i < 2; i++) {
      expect(await serverContext.packs.run(request)).toMatchObject({
        output: { issues: [{}, {}] },
        cached: false,
      });
    }
    expect(github.requests).toHaveLength(2);
    expect(new Set(troubles.map(({ what, error }) => `${what}: ${error.code}`))).toEqual(
      new Set(["cache: memory_unavailable", "audit: memory_unavailable"]),
    );
  });

  test("everything that needs memory fails with the reason", async () => {
    const serverContext = await openTestServerContext({
      ...broken,
      pipelinesFolder: await folderWith(REMEMBER),
    });
    const refusal = {
      code: "memory_unavailable",
      message: expect.stringContaining("HELMDECK_MEMORY_KEY is not a memory key"),
    };
    const stored = serverContext.packs.run({
      ...ANA,
      pack: "helmdeck.memory_store",
      input: { key: "k", value: "v" },
    });
    await expect(stored).rejects.toMatchObject(refusal);
    await expect(serverContext.memory.defaults("ana")).rejects.toMatchObject(refusal);
    const { runId } = await serverContext.pipelines.start({
      ...ANA,
      pipeline: "remember",
      inputs: { word: "w" },
    });
    expect(await serverContext.pipelines.ended("ana", runId)).toMatchObject({
      state: "failed",
      error: refusal,
    });
  });
});

describe("opening", () => {
  test("is refused for an invalid pipeline, with file and line, and closes the memory", async () => {
    const place = await tempPlace();
    const pipelinesFolder = await folderWith(`${REMEMBER}when: never\n`);
    await expect(openTestServerContext({ ...place, pipelinesFolder })).rejects.toMatchObject({
      code: "invalid_input",
      details: { file: join(pipelinesFolder, "own.yaml"), line: 9 },
    });
    expect(await exists(`${place.databasePath}-wal`)).toBe(false); // the last connection to close removes it
  });

  test("works if the folder for sessions and artifacts cannot be created; their use then fails with a reason", async () => {
    const folder = await tempFolder();
    await writeFile(join(folder, "file"), "");
    const serverContext = await openTestServerContext({ workFolder: join(folder, "file", "work") });
    await serverContext.memory.storeFact("ana", { key: "k", value: "v" });
    const artifact = { name: "a.txt", mediaType: "text/plain", content: Buffer.from("a") };
    await expect(serverContext.artifacts.put("ana", artifact)).rejects.toMatchObject({
      code: "artifact_refused",
    });
  });

  test("returns artifacts of an earlier server context, to their caller only", async () => {
    const place = await tempPlace();
    const first = await openTestServerContext(place);
    const artifact = { name: "a.txt", mediaType: "text/plain", content: Buffer.from("hello") };
    const { id } = await first.artifacts.put("ana", artifact);
    await first.close();
    const second = await openTestServerContext(place);
    expect((await second.artifacts.get("ana", id))?.ref.name).toBe("a.txt");
    expect(await second.artifacts.get("ben", id)).toBeUndefined();
  });

  test("deletes the sessions that a killed server left", async () => {
    const place = await tempPlace();
    const left = join(dirname(place.keyPath), "helmdeck-memory-work", "sessions", "server-0123456789abcdef");
    await mkdir(join(left, "session"), { recursive: true });
    const { hostname } = await import("node:os");
    await writeFile(
      join(left, "owner.json"),
      JSON.stringify({ pid: 999_999_999, began: "long ago", host: hostname() }),
    );
    await openTestServerContext(place);
    expect(await exists(left)).toBe(false);
  });
});
