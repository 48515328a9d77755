/** The import's result for each kind of row in helmdeck's database, and for each invalid one. */
import { readdirSync, renameSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import files from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { basename, join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import { openCopy } from "../../app/transfer/formats/helmdeck/database-copy.ts";
import { helmdeckKey } from "../../app/transfer/formats/helmdeck/key.ts";
import { parseOwners } from "../../app/transfer/formats/helmdeck/owners.ts";
import { type HelmdeckSource, helmdeckReader } from "../../app/transfer/formats/helmdeck/read-helmdeck.ts";
import { type ImportRequest, importFiles } from "../../app/transfer/import-files.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import { DAY_MS, NOW, openTestMemory, tempFolder } from "../app/fixtures/memories.ts";
import { goTime, type HelmdeckRow, KEY, KEY_HEX, makeDatabase, run, seal } from "./helmdeck-database.ts";
import { factsOf } from "./notes.ts";

/** Watches a function of `node:fs/promises` for one test, also in modules that have imported it. */
function spyOn<Name extends "copyFile" | "mkdtemp">(name: Name) {
  const spy = vi.spyOn(files, name);
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
  return spy;
}

const SESSION = "openclaw-configure:0b9a4c1e-5a5e-4c57-9d7e-0123456789ab";
const NOTES = `swe.solve/${"a1".repeat(8)}/notes`;

type Options = Partial<ImportRequest> & Partial<HelmdeckSource> & { readonly map?: readonly string[] };

async function importPath(memory: OpenMemory, path: string, { map = [], ...options }: Options = {}) {
  const source = {
    ...{ key: helmdeckKey(KEY_HEX, "the key"), keySource: "the key", owners: parseOwners(map) },
    ...options,
  };
  const given = [{ name: path, open: () => [] as unknown as AsyncIterable<Uint8Array> }]; // the import reads the file at its path
  const copy = await openCopy(path);
  const read = helmdeckReader(copy, source);
  try {
    return await importFiles({ memory, subject: "main", format: "helmdeck", read, files: given, ...options });
  } finally {
    await copy.close();
  }
}

async function importRows(memory: OpenMemory, rows: readonly HelmdeckRow[], options: Options = {}) {
  return importPath(memory, makeDatabase(await tempFolder(), rows, { now: NOW }), options);
}

async function noteIn(memory: OpenMemory): Promise<string | undefined> {
  const entry = await memory.store.get({ namespace: namespaceOf("main"), origin: "pack", key: NOTES });
  return entry && Buffer.from(entry.value).toString();
}

const note = (value: string, updatedAt: string, namespace = SESSION): HelmdeckRow => ({
  ...{
    namespace,
    key: NOTES,
    category: "solve",
    value,
    createdAt: updatedAt,
    expiresAt: goTime(NOW + DAY_MS),
  },
});

test("the test rows have the documented format", () => {
  const { sealed } = seal(Buffer.from("React over Vue"), KEY, Buffer.from("6465666768696a6b6c6d6e6f", "hex"));
  expect(sealed.toString("hex")).toBe("1a7ebf050dc939e85b107fbeaf0035a85a645c6a4e88a9d8717a56a7ac6f");
  expect(run("pack", 0, NOW).key).toMatch(/^pack_history\/github\.list_issues\/\d{20}$/);
});

describe("helmdeck's rows:", () => {
  test("facts, runs and notes are imported, and caches, plans, expired and foreign ones are counted", async () => {
    const memory = await openTestMemory();
    const cached = { category: "cache", value: "{}" };
    const result = await importRows(memory, [
      { key: "fact", value: "kept" },
      { key: "pack_history/like/this", value: "a fact, by its category" },
      { key: "in-a-cache", category: "cache", value: "an agent's" },
      run("pack", 60_000, NOW, {
        findings: [{ code: "wide", severity: "" }],
        learn_inputs: { title: "a < b" },
      }),
      run("pipeline", 120_000, NOW),
      note("summary: done", goTime(NOW - DAY_MS)),
      { ...cached, key: `github.list_issues/${"0f".repeat(32)}` },
      { ...cached, key: `cg:claim:${"0f".repeat(32)}` },
      { ...cached, key: `content.ground/${"0f".repeat(32)}`, namespace: SESSION },
      { key: `plan_history/${"a1".repeat(8)}/0${NOW}000000`, category: "plan_history", value: "{}" },
      { key: "old", value: "v", expiresAt: goTime(NOW) },
      { key: "foreign", value: "v", sealedWith: Buffer.alloc(32, 7) },
    ]);
    expect(result).toMatchObject({ stored: 4, audit: 2, refused: [] });
    expect(result.owners).toEqual([{ from: "openclaw-configure", to: "main", entries: 6 }]);
    expect(result.leftOut).toEqual({
      "a cached answer": 3,
      "a record of a plan": 1,
      "an expired row": 1,
      "a row that the key does not open": 1,
    });
    expect(Object.keys(await factsOf(memory))).toEqual(["fact", "in-a-cache", "pack_history/like/this"]);
    expect(await noteIn(memory)).toBe("summary: done");
    const { packs, pipelines } = await memory.defaults("main");
    expect([packs[0]?.id, packs[0]?.common_inputs, pipelines[0]?.id]).toEqual([
      "github.list_issues",
      { title: "a < b" },
      "builtin.grounded-blog",
    ]);
    const { entries } = await memory.store.list({ namespace: namespaceOf("main"), origin: "audit" });
    expect(entries.map(({ key }) => key.slice(-9))).toEqual(["000000007", "000000007"]);
  });

  test("times are kept, also an expiry after a year; without an expiry the default applies", async () => {
    const memory = await openTestMemory();
    const times = { createdAt: "2026-03-01T10:00:00.123456789Z", updatedAt: "2026-04-01T10:00:00.5Z" };
    await importRows(memory, [
      { key: "year", value: "v", ...times, expiresAt: goTime(NOW + 360 * DAY_MS) },
      { key: "never", value: "v", ...times, expiresAt: null },
      { key: "ahead", value: "v", createdAt: goTime(NOW + DAY_MS) },
    ]);
    expect(await memory.getFact("main", { key: "year" })).toMatchObject({
      createdAt: Date.parse("2026-03-01T10:00:00.123Z"),
      updatedAt: Date.parse("2026-04-01T10:00:00.5Z"),
      expiresAt: NOW + 360 * DAY_MS,
    });
    expect((await memory.getFact("main", { key: "never" }))?.expiresAt).toBe(NOW + 90 * DAY_MS);
    expect((await memory.getFact("main", { key: "ahead" }))?.updatedAt).toBe(NOW);
  });

  test.each([
    ["My Prefs!", "my-prefs"],
    ["Überblick", "uberblick"],
    ["cache", "cache-facts"],
    ["tool_history", "tool_history-facts"],
    ["設定", expect.stringMatching(/^category-[0-9a-f]{8}$/)],
    ["x".repeat(70), "x".repeat(64)],
  ])("a row of the category %s keeps it as a tag", async (category, like) => {
    const memory = await openTestMemory();
    await importRows(memory, [{ key: "k", value: "v", category, tags: ["a", " ", "a", "b "] }]);
    const fact = await memory.getFact("main", { key: "k" });
    expect(fact?.category).toEqual(like);
    expect(fact?.tags.slice(0, 3)).toEqual(["a", "b", category.slice(0, 64)]);
  });

  test("no row can add itself to another import", async () => {
    const memory = await openTestMemory();
    const { importId } = await importRows(memory, [
      { key: "k", value: "v", category: "import:mine", tags: ["import:markdown-1", "kept"] },
    ]);
    expect((await memory.getFact("main", { key: "k" }))?.tags).toEqual(["kept", `import:${importId}`]);
  });

  test.each<[string, Partial<HelmdeckRow>, RegExp]>([
    ["a key that is too long", { key: "k".repeat(600) }, /^key may have at most 512 bytes/],
    ["a control character in its key", { key: "a\u0000b" }, /^key holds the control .* U\+0000/],
    ["a value that is too long", { value: "hunter2 ".repeat(9_000) }, /^value may have at most 65536 bytes/],
    ["a value that is not text", { value: Buffer.from([0xff, 0xfe]) }, /^value is not valid text/],
    [
      "too many tags",
      { tags: Array.from({ length: 32 }, (_none, index) => `t${index}`) },
      /^tags may be at most 31/,
    ],
    ["a changed fingerprint", { fingerprint: "0".repeat(16) }, /^Its fingerprint does not match/],
    [
      "an invalid time",
      { updatedAt: "yesterday" },
      /^updated_at must be a day such as 2026-11-20, or a time/,
    ],
    ["an invalid audit row", { category: "pack_history", value: "hunter2" }, /^It is not JSON/],
    [
      "an unknown outcome of a pipeline",
      run("pipeline", 0, NOW, { outcome: "hunter2" }),
      /outcome must be succeeded/,
    ],
    ["a run in the future", run("pack", -DAY_MS, NOW), /^at_unix is in the future/],
  ])(
    "a row with %s is refused by its key without showing its value, and the rest is imported",
    async (_, odd, reason) => {
      const memory = await openTestMemory();
      const rows = [
        { key: "odd", value: "hunter2", ...odd },
        { key: "good", value: "v" },
      ];
      const { refused, stored } = await importRows(memory, rows);
      expect(stored).toBe(1);
      expect(refused).toMatchObject([
        { key: (odd.key ?? "odd").slice(0, 512), reason: expect.stringMatching(reason) },
      ]);
      expect(JSON.stringify(refused)).not.toContain("hunter2");
    },
  );

  test("a row whose key is a credential is refused without showing the key", async () => {
    const memory = await openTestMemory();
    const key = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;
    const { refused } = await importRows(memory, [{ key, value: "v" }]);
    expect(refused).toMatchObject([{ code: "secret_refused" }]);
    expect(JSON.stringify(refused)).not.toContain("ghp_");
  });
});

describe("callers", () => {
  test("become agents by name or mapping, and the newer of two facts is kept", async () => {
    const memory = await openTestMemory();
    const rows = [
      { key: "k", value: "older", createdAt: goTime(NOW - 2 * DAY_MS) },
      { key: "k", value: "newer", createdAt: goTime(NOW - DAY_MS), namespace: "admin" },
      { key: "k", value: "other", namespace: "a=b" },
    ];
    const result = await importRows(memory, rows, { map: ["admin=main", "a=b=work"] });
    expect(result).toMatchObject({
      stored: 2,
      leftOut: { "an older row with the same name": 1 },
      takers: ["main", "work"],
    });
    expect([await factsOf(memory), await factsOf(memory, "work")]).toEqual([{ k: "newer" }, { k: "other" }]);
  });

  test("have separate look-alike keys and superseded facts", async () => {
    const memory = await openTestMemory();
    await memory.storeFact("main", { key: "deploy", value: "v" });
    await memory.storeFact("admin", { key: "was", value: "v" });
    await memory.storeFact("admin", { key: "is", value: "v", supersedes: ["was"] });
    const result = await importRows(memory, [
      { key: "dеploy", value: "v" },
      { key: "dеploy", value: "v", namespace: "admin" },
      { key: "was", value: "v" },
      { key: "was", value: "v", namespace: "admin" },
    ]);
    expect(result).toMatchObject({ stored: 2, retired: 1, refused: [{ key: "dеploy" }] });
    expect(Object.keys(await factsOf(memory))).toEqual(["deploy", "was"]);
    expect(Object.keys(await factsOf(memory, "admin"))).toEqual(["dеploy", "is"]);
  });

  test.each([
    [["nobody=main"], /--map names nobody, .* Its callers: admin, openclaw-configure\./],
    [["admin"], /--map must be FROM=TO/],
    [["admin="], /--map must be FROM=TO/],
    [["admin=a", "admin=b"], /--map maps admin twice/],
  ])("with the mapping %j are refused", async (map, message) => {
    const memory = await openTestMemory();
    const rows = [
      { key: "k", value: "v" },
      { key: "k", value: "v", namespace: "admin" },
    ];
    await expect(importRows(memory, rows, { map })).rejects.toThrow(message);
    expect(await factsOf(memory)).toEqual({});
  });
});

describe("a second import", () => {
  test("follows helmdeck's changes, keeps a person's writes, and counts facts that helmdeck forgot", async () => {
    const memory = await openTestMemory();
    const rows = ["same", "edited-there", "edited-here", "forgotten"].map((key) => ({ key, value: "first" }));
    await importRows(memory, rows);
    await memory.storeFact("main", { key: "edited-here", value: "mine" });
    const later = { createdAt: goTime(NOW - DAY_MS) };
    const now = [...rows.slice(0, 3), { key: "edited-there", value: "second", ...later }].toSpliced(1, 1);
    expect(await importRows(memory, now, { dryRun: true })).toMatchObject({ foreseen: { gone: 1 } });
    expect(await importRows(memory, now)).toMatchObject({ stored: 0, replaced: 1, refreshed: 1, kept: 1 });
    expect(await factsOf(memory)).toEqual({
      same: "first",
      "edited-there": "second",
      "edited-here": "mine",
      forgotten: "first",
    });
  });

  test("does not overwrite a note of swe.solve here, and updates its own", async () => {
    const memory = await openTestMemory();
    const ref = {
      namespace: namespaceOf("main"),
      origin: "pack",
      key: NOTES,
      category: "solve",
      tags: [],
    } as const;
    const own = {
      ...ref,
      value: Buffer.from("own"),
      updatedAt: NOW - 9 * DAY_MS,
      createdAt: NOW - 9 * DAY_MS,
    };
    await memory.store.put(own);
    expect(await importRows(memory, [note("theirs", goTime(NOW - DAY_MS))])).toMatchObject({ kept: 1 });
    expect(await noteIn(memory)).toBe("own");
    await memory.store.deleteWhere({ namespace: ref.namespace, origins: ["pack"] });
    const other = SESSION.replace("0b9a", "1b9a");
    const two = [note("first", goTime(NOW - 3 * DAY_MS)), note("second", goTime(NOW - 2 * DAY_MS), other)];
    await importRows(memory, two);
    expect(await noteIn(memory)).toBe("second");
    await importRows(memory, [...two, note("third", goTime(NOW - DAY_MS), SESSION.replace("0b9a", "2b9a"))]);
    expect(await noteIn(memory)).toBe("third");
  });
});

test("forgetting an import deletes its runs and notes, and keeps runs that were recorded here", async () => {
  const memory = await openTestMemory();
  await memory.recordPackRun("main", { pack: "lint", outcome: "ok", at_unix: NOW / 1_000 });
  const rows = [run("pack", 60_000, NOW), note("n", goTime(NOW - DAY_MS)), { key: "k", value: "v" }];
  expect(await importRows(memory, rows, { dryRun: true })).toMatchObject({ audit: 1, stored: 2 });
  const { importId: id = "" } = await importRows(memory, rows);
  expect(await memory.imports("main")).toEqual([{ id, facts: 1, former: 0, records: 2 }]);
  expect(await memory.forget("main", { scope: `import:${id}` })).toMatchObject({ deleted: 3 });
  expect((await memory.defaults("main")).packs.map(({ id: pack }) => pack)).toEqual(["lint"]);
  expect(await noteIn(memory)).toBeUndefined();
});

describe("the key", () => {
  test.each([
    KEY_HEX,
    ` ${KEY_HEX.toUpperCase()}\n`,
    `# a comment\nHELMDECK_MEMORY_KEY="${KEY_HEX}"\nOTHER=x\n`,
  ])("is read from a file with only the key, or from one that sets its variable (%#)", (text) => {
    expect(helmdeckKey(text, "F").export().toString("hex")).toBe(KEY_HEX);
  });

  test.each(["", "hunter2", KEY_HEX.slice(1), `HELMDECK_VAULT_KEY=${KEY_HEX}`])(
    "that is invalid is refused, and not shown (%#)",
    (text) => {
      const failure = () => helmdeckKey(text, "F");
      expect(failure).toThrow(/^F has no helmdeck key/);
      expect(failure).not.toThrow(/hunter2|0001/);
    },
  );
});

describe("the database", () => {
  // verifies P-import-source
  test("is read with its log, also through a link, in a private folder that a signal removes", async () => {
    const folder = await tempFolder();
    const path = makeDatabase(folder, [{ key: "k", value: "v" }], { now: NOW });
    symlinkSync(path, join(folder, "link.db"));
    const mkdtemp = spyOn("mkdtemp");
    const { connection, close } = await openCopy(join(folder, "link.db"));
    const made = String(await mkdtemp.mock.results.at(-1)?.value);
    expect(statSync(made).mode & 0o777).toBe(0o700);
    expect(connection.prepare("SELECT key FROM memory_entries").all()).toMatchObject([{ key: "k" }]);
    const killed = vi.spyOn(process, "kill").mockImplementation(() => true);
    process.emit("SIGTERM", "SIGTERM");
    expect(killed).toHaveBeenCalledWith(process.pid, "SIGTERM");
    killed.mockRestore();
    expect(() => statSync(made)).toThrow("ENOENT");
    await close();
  });

  test("is copied again if it was written during the copy, but not endlessly", async () => {
    const memory = await openTestMemory();
    const path = makeDatabase(await tempFolder(), [{ key: "k", value: "v" }], { now: NOW });
    const { copyFile } = files;
    const copying = spyOn("copyFile");
    let writes = 1;
    copying.mockImplementation(async (from, to) => {
      await copyFile(from, to);
      writes -= 1;
      if (writes >= 0) utimesSync(path, 1, writes);
    });
    expect(await importPath(memory, path)).toMatchObject({ stored: 1 });
    writes = Number.POSITIVE_INFINITY;
    let at = 0;
    copying.mockImplementation(async (from, to) => {
      await copyFile(from, to);
      at += 1;
      utimesSync(path, 1, at);
    });
    await expect(importPath(memory, path)).rejects.toMatchObject({ code: "store_locked" });
  });

  test("of another program is reported, and no copy of it is left", async () => {
    const memory = await openTestMemory();
    const folder = await tempFolder();
    const path = makeDatabase(folder, [{ key: "k", value: "v" }], { now: NOW });
    writeFileSync(join(folder, "text.db"), "not a database, but long enough to be taken for one".repeat(40));
    await expect(importPath(memory, join(folder, "text.db"))).rejects.toMatchObject({
      code: "store_not_ours",
    });
    await expect(importPath(memory, join(folder, "none.db"))).rejects.toThrow(
      /Cannot read .*there is no such file/,
    );
    await expect(importPath(memory, folder)).rejects.toThrow("is not a regular file");
    renameSync(`${path}-wal`, join(folder, "aside"));
    const { lacksLog, close } = await openCopy(path);
    expect(lacksLog).toBe(true);
    await close();
    expect(readdirSync(folder).sort()).toEqual(
      [
        basename(path),
        "aside",
        "text.db",
        ...readdirSync(folder).filter((name) => name.startsWith("running")),
      ].sort(),
    );
  });
});
