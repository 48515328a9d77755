/** What a search finds and names, in each form in which a text may be stored. */
import { appendFile, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { countNotes, findTraces, type Traces, type TracesQuery } from "../../app/traces/find-traces.ts";
import { openClawPlace } from "../../app/traces/openclaw-place.ts";
import { Phrases } from "../../app/traces/phrases.ts";
import { placesOutside } from "../../app/traces/places-outside.ts";
import { nodeSqliteDriver } from "../../engine/store/sqlite/node-sqlite-driver.ts";

const CANARY = "The spare key of the cabin lies under the third flowerpot";
const PHRASES = Phrases.ofValues([CANARY]);

let home: string;
beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), "helmdeck-traces-")));
});
afterEach(() => rm(home, { recursive: true }));

const stateDir = () => join(home, ".openclaw");

async function write(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(stateDir(), name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  return path;
}

async function search(query: Partial<TracesQuery> = {}, config?: unknown, databaseIn = stateDir()) {
  const place = openClawPlace(config, { stateDir: stateDir(), env: {}, homeDir: home });
  const databasePath = join(databaseIn, "helmdeck-memory", "memory.sqlite");
  return findTraces({
    ...{ place, phrases: PHRASES, driver: nodeSqliteDriver, exports: [], imports: [], skips: [] },
    outside: await placesOutside(place, { databasePath, homeDir: home }),
    withinMs: 60_000,
    ...query,
  });
}

const namesOf = ({ found }: Traces) => found.map(({ path }) => path.slice(stateDir().length + 1));
const unreadOf = ({ unread }: Traces) =>
  Object.fromEntries(unread.map(({ path, why }) => [path.slice(stateDir().length + 1), why]));

describe("every byte", () => {
  test.each([
    ["UTF-16 with a mark", Buffer.from(`\ufeff${CANARY}`, "utf16le")],
    ["UTF-16 without one", Buffer.from(CANARY, "utf16le")],
    ["UTF-16, big-endian", Buffer.from(`\ufeff${CANARY}`, "utf16le").swap16()],
    ["JSON in JSON", JSON.stringify({ a: JSON.stringify({ b: CANARY }) })],
    ["gzip", gzipSync(CANARY)],
    ["zstd", zstdCompressSync(CANARY)],
    ["after many bytes that are no text", Buffer.concat([Buffer.alloc(300_000, 0xff), Buffer.from(CANARY)])],
  ])("in %s", async (_, content) => {
    await write("media/a.bin", content);
    expect(namesOf(await search())).toEqual(["media/a.bin"]);
  });

  test("in what it cannot read, it is named", async () => {
    await write("media/a.rar", Buffer.concat([Buffer.from("Rar!\x1a"), Buffer.from(CANARY)]));
    const { found, unread } = await search();
    expect([found.length, unread.map(({ why }) => why)]).toEqual([0, ["a compressed archive"]]);
  });

  test("in a blob of a row, as in a deleted conversation that OpenClaw archives", async () => {
    const path = await write("agents/main/agent/openclaw-agent.sqlite", "");
    const database = new DatabaseSync(path);
    database.exec("CREATE TABLE session_transcript_archives (session_key TEXT, archive_blob BLOB)");
    const insert = database.prepare("INSERT INTO session_transcript_archives VALUES (?, ?)");
    insert.run("agent:main:a", Buffer.from(CANARY));
    insert.run("agent:main:b", zstdCompressSync(CANARY));
    database.close();
    const { found } = await search();
    expect(found).toMatchObject([
      { kind: "transcript", rows: 2, sessions: ["agent:main:a", "agent:main:b"] },
    ]);
    expect(found[0]).not.toHaveProperty("isUnused");
  });

  // verifies P-traces-receipt
  test.each(["the database", "its log"])(
    "in compressed values of deleted rows that %s still holds",
    async (where) => {
      const path = await write("agents/main/agent/openclaw-agent.sqlite", "");
      const database = new DatabaseSync(path);
      database.exec(
        "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE transcript_events (packed BLOB)",
      );
      const insert = database.prepare("INSERT INTO transcript_events VALUES (?)");
      const packed = zstdCompressSync(
        `${"How are you? Fine, and you? ".repeat(9)}${CANARY}, said the neighbour.`,
      );
      expect(packed.includes("flowerpot")).toBe(false);
      insert.run(packed);
      insert.run(zstdCompressSync("What is for dinner?"));
      if (where === "the database") database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      database.exec("DELETE FROM transcript_events WHERE rowid = 1");
      if (where === "the database") database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      const traces = await search();
      database.close();
      const name = `agents/main/agent/openclaw-agent.sqlite${where === "its log" ? "-wal" : ""}`;
      expect(namesOf(traces)).toEqual([name]);
      expect(traces.found).toMatchObject([{ isUnused: true }]);
      expect(traces.unread).toEqual([]);
    },
  );

  test("where compressed values of deleted rows cannot be read, that is said", async () => {
    const path = await write("agents/main/agent/openclaw-agent.sqlite", "");
    const database = new DatabaseSync(path);
    const words = Array.from({ length: 9_000 }, (_, at) => Math.imul(at, 2_654_435_761).toString(36)).join(
      " ",
    );
    database.exec("CREATE TABLE transcript_events (packed BLOB)");
    database.prepare("INSERT INTO transcript_events VALUES (?)").run(zstdCompressSync(`${words} ${CANARY}`));
    database.exec("DELETE FROM transcript_events");
    database.close();
    expect(Object.values(unreadOf(await search()))).toEqual([
      expect.stringContaining("compressed text of deleted rows"),
    ]);
  });
});

describe("what moves, and what is elsewhere", () => {
  test("a file that is changed while it is read is named", async () => {
    const path = await write("agents/main/sessions/a.jsonl", `${"x ".repeat(600_000)}`);
    let asked = 0;
    const clock = () => {
      asked += 1;
      if (asked === 4) void appendFile(path, CANARY);
      return 0;
    };
    expect(unreadOf(await search({ clock }))).toEqual({
      "agents/main/sessions/a.jsonl": "was changed while it was read",
    });
  });

  test("imported files and exports are searched, also through a link; one that is gone is named", async () => {
    const [facts, gone] = [join(home, "facts.jsonl"), join(home, "gone.jsonl")];
    await writeFile(facts, CANARY);
    await symlink(facts, join(home, "link.jsonl"));
    const { found, unread } = await search({ imports: [join(home, "link.jsonl")], exports: [gone] });
    expect(found).toMatchObject([{ kind: "import", path: facts, isEditable: false }]);
    expect(unread).toEqual([{ path: gone, why: expect.stringContaining("no longer there") }]);
  });

  test("folders that are indexed with the notes are searched, unusual places of conversations are named", async () => {
    await mkdir(join(home, "team"));
    await writeFile(join(home, "team", "a.md"), CANARY);
    await writeFile(join(home, "one.md"), CANARY);
    const config = {
      memory: { search: { extraPaths: ["../../team", { path: "~/one.md", pattern: "*" }] } },
      session: { store: "~/sessions/{agentId}/sessions.json" },
      agents: {
        entries: { main: { agentDir: "/srv/main" }, work: { agentDir: join(stateDir(), "agents/w") } },
      },
    };
    await mkdir(join(stateDir(), "workspace"), { recursive: true });
    const { found, unread } = await search({}, config);
    expect(found.map(({ path, isEditable }) => [path, isEditable])).toEqual([
      [join(home, "team", "a.md"), true],
      [join(home, "one.md"), true],
    ]);
    expect(unread.map(({ path }) => path)).toEqual(
      expect.arrayContaining([join(home, "sessions/{agentId}/sessions.json"), "/srv/main"]),
    );
    expect(unread.map(({ path }) => path)).not.toContain(join(stateDir(), "agents/w"));
  });

  // verifies P-traces-receipt
  test("another gateway of this account, or of the database, is named as not searched", async () => {
    await write("openclaw.json", "{}");
    for (const folder of [".openclaw-work", "elsewhere", ".openclaw-empty"]) await mkdir(join(home, folder));
    for (const folder of [".openclaw-work", "elsewhere"]) await mkdir(join(home, folder, "agents"));
    const { unread } = await search({}, undefined, join(home, "elsewhere"));
    expect(unread.map(({ path }) => path)).toEqual([join(home, ".openclaw-work"), join(home, "elsewhere")]);
    expect(unread[0]?.why).toContain("OPENCLAW_STATE_DIR");
  });
});

describe("counting notes", () => {
  test("says when not all could be looked at", async () => {
    const workspace = join(home, "workspace");
    await mkdir(workspace);
    await writeFile(join(workspace, "a.md"), CANARY);
    expect(await countNotes(workspace, PHRASES, 60_000)).toEqual({ count: 1, isComplete: true });
    expect(await countNotes(workspace, PHRASES, -1)).toEqual({ count: 0, isComplete: false });
    expect(await countNotes(workspace, Phrases.ofValues([CANARY, "blue"]), 60_000)).toMatchObject({
      isComplete: false,
    });
    await writeFile(join(workspace, "big.md"), "x".repeat(5 * 1024 * 1024));
    expect(await countNotes(workspace, PHRASES, 60_000)).toEqual({ count: 1, isComplete: false });
  });
});
