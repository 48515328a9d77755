/** `traces`, and what `forget` says of the places where a fact still stands. */
import {
  chownSync,
  copyFileSync,
  linkSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { chmod, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { beforeEach, describe, expect, test } from "vitest";
import { HELMDECK_MEMORY } from "../../cli/index.ts";
import { runCommandLine } from "../../commands/run-program.ts";
import { OpenClawFolder } from "../traces/openclaw-folder.ts";
import { InProcessHome } from "./in-process.ts";
import type { Seen } from "./terminal.ts";

const CANARY = "The spare key of the cabin lies under the third flowerpot";
const NOTE =
  "# Memory\n\n- We deploy through Konflux.\n- The spare key of the cabin lies under the third flowerpot.\n- Tea, not coffee.\n";

const home = InProcessHome.forEachTest();
let openclaw: OpenClawFolder;
beforeEach(async () => {
  openclaw = new OpenClawFolder(home.stateFolder);
  await mkdir(home.path("bin"));
  const script = `#!/bin/sh
echo "$OPENCLAW_STATE_DIR $*" >> ${home.path("asked")}
env > ${home.path("asked-env")}
`;
  writeFileSync(home.path("bin/openclaw"), script, { mode: 0o755 });
});

const run = (args: readonly string[], input?: string) => home.run(args, input === undefined ? {} : { input });

/** A person who answers each question. `atQuestion` runs before the answer to that one. */
async function person(
  args: readonly string[],
  answers: readonly string[],
  atQuestion: (asked: string) => void = () => {},
): Promise<Seen> {
  const terminal = () => Object.assign(new PassThrough({ highWaterMark: 64 * 1024 * 1024 }), { isTTY: true });
  const [stdin, stdout, stderr] = [
    terminal(),
    Object.assign(new PassThrough({ highWaterMark: 1e8 }), { isTTY: false }),
    terminal(),
  ];
  const seen = { stdout: "", stderr: "" };
  const left = [...answers];
  stdout.on("data", (chunk) => (seen.stdout += chunk));
  stderr.on("data", (chunk) => {
    const text = String(chunk);
    seen.stderr += text;
    if (!/(\[y\/N\]|nowhere\):) $/.test(text)) return;
    atQuestion(seen.stderr);
    const answer = left.shift();
    if (answer === undefined) stdin.end();
    else stdin.write(`${answer}\n`);
  });
  const shell = { stdin, stdout, stderr, homeDir: home.folder, now: Date.now };
  const code = await runCommandLine(
    args,
    { ...shell, env: { PATH: `${home.path("bin")}:${process.env.PATH}`, NO_COLOR: "1" } },
    HELMDECK_MEMORY,
  );
  return { code, ...seen };
}

const store = () => run(["store", "cabin/key", CANARY]);
const json = async (args: readonly string[], input?: string) =>
  JSON.parse((await run([...args, "--json"], input)).stdout);
type Found = {
  readonly path: string;
  readonly kind: string;
  readonly lines?: number[];
  readonly sessions?: string[];
};
const placesOf = (receipt: { remaining: { found: Found[] } }) =>
  receipt.remaining.found.map(({ path, kind }) => `${kind} ${path.slice(home.stateFolder.length + 1)}`);

async function everywhere(): Promise<void> {
  await store();
  await openclaw.write("workspace/MEMORY.md", NOTE);
  await openclaw.write("workspace/memory/2026-11-20.md", `09:00 said: "${CANARY}"\n`);
  await openclaw.write("workspace/DREAMS.md", `I dreamt that ${CANARY.toLowerCase()}.\n`);
  await openclaw.keepTranscripts(CANARY);
}

describe("traces", () => {
  test("says once what can be done in several places", async () => {
    await everywhere();
    const said = ["s1", "s2"].map((session) => ({ session, text: `Remember: ${CANARY}` }));
    const database = await openclaw.openAgentDatabase(said, [NOTE]);
    const { stdout } = await run(["traces", "cabin/key"]);
    database.close();
    const remedies = stdout.split("\n").filter((line) => line.startsWith("    "));
    expect(remedies.length).toBeGreaterThan(2);
    expect(remedies).toEqual([...new Set(remedies)]);
  });

  // verifies P-traces-receipt
  test("names each place where a fact stands, with its lines and its conversation", async () => {
    await everywhere();
    const database = await openclaw.openAgentDatabase(
      [
        { session: "s1", text: "What is for dinner?" },
        { session: "s2", text: `Remember: ${CANARY}` },
        { session: "s3", text: `Again, ${CANARY}`, isPacked: true },
      ],
      [NOTE],
    );
    const receipt = await json(["traces", "cabin/key"]);
    database.close();
    const path = "agents/main/agent/openclaw-agent.sqlite";
    expect(placesOf(receipt)).toEqual([
      "note workspace/MEMORY.md",
      "note workspace/memory/2026-11-20.md",
      "dream workspace/DREAMS.md",
      `transcript ${path}`,
      `index ${path}`,
      "transcript agents/main/sessions/cold/0a.jsonl.zst",
      "transcript agents/main/sessions/old.jsonl.deleted.2026-11-20T10-00-00Z",
      "file backups/mine.tar.gz",
    ]);
    const [memory, , , transcript] = receipt.remaining.found as [Found, Found, Found, Found];
    expect(memory.lines).toEqual([4]);
    expect(transcript.sessions).toEqual(["agent:main:s2", "agent:main:s3"]);
    expect(JSON.stringify(receipt)).not.toContain("flowerpot");
  });

  // verifies P-traces-read-only
  test("changes nothing, and creates no file beside an open or a closed database", async () => {
    await everywhere();
    const open = await openclaw.openAgentDatabase([{ session: "s", text: CANARY }]);
    const before = await snapshot();
    await json(["traces", "cabin/key"]);
    expect(await snapshot()).toEqual(before);
    open.exec("INSERT INTO session_windows VALUES ('t', 'u')");
    open.close();
    const closed = await snapshot();
    expect(placesOf(await json(["traces", "cabin/key"]))).toContain(
      "transcript agents/main/agent/openclaw-agent.sqlite",
    );
    expect(await snapshot()).toEqual(closed);
  });

  test("looks for words from standard input, one phrase a line", async () => {
    await openclaw.write("workspace/USER.md", "Likes konflux.\n");
    const receipt = await json(["traces"], "Konflux\nnowhere to be seen\n");
    expect(placesOf(receipt)).toEqual(["note workspace/USER.md"]);
    expect((await run(["traces"], "a\n")).stderr).toContain("at least three letters");
  });

  // verifies P-traces-words
  test("asks a person for the words, which reach no other process and no file", async () => {
    await openclaw.write("workspace/USER.md", "Likes konflux.\nLikes tea.\n");
    const { stdout, stderr } = await person(["traces"], ["Konflux", "y"]);
    expect(stderr).toContain("- ");
    expect(stdout).toContain("Taken out: 1 line of");
    expect(stdout).not.toMatch(/konflux/i);
    expect(readFileSync(home.path("asked-env"), "utf8")).toContain("OPENCLAW_STATE_DIR=");
    expect(await filesWith("onflux")).toEqual([]);
  });

  test("an unknown key is an error, and a value that is too common is said to be so", async () => {
    expect((await run(["traces", "nothing"])).stderr).toContain("not_found");
    await run(["store", "colour", "blue"]);
    expect((await run(["traces", "colour"])).stdout).toContain("too short or too common");
  });

  test("names other facts of the same memory, by their keys, and of another caller's none", async () => {
    await store();
    await run(["store", "cabin/again", `Remember: ${CANARY}.`]);
    await run(["store", "theirs", CANARY, "--caller", "other"]);
    const { stdout } = await run(["traces", "cabin/key"]);
    expect(stdout).toContain("  this memory: cabin/again\n");
    expect((await json(["traces"], CANARY)).in_memory.toSorted()).toEqual(["cabin/again", "cabin/key"]);
  });

  test("says what nobody can know", async () => {
    await store();
    const { stdout } = await run(["traces", "cabin/key"]);
    expect(stdout).toContain("The same in other words, in pictures");
    expect(stdout).toContain("Backups, exports and imports of version 0.2.0 and older");
    expect((await json(["traces", "cabin/key"])).not_known).toHaveLength(3);
  });

  test("finds what a deleted row left in the database's file", async () => {
    await store();
    const database = await openclaw.openAgentDatabase([{ session: "s", text: CANARY }]);
    database.exec("PRAGMA secure_delete = OFF; DELETE FROM transcript_events;");
    database.close();
    expect((await run(["traces", "cabin/key"])).stdout).toContain("in bytes that no row uses");
  });

  // verifies P-traces-no-links
  test("follows no link, and names it", async () => {
    await store();
    const outside = home.path("diary.md");
    writeFileSync(outside, NOTE);
    await mkdir(openclaw.path("workspace/memory"), { recursive: true });
    symlinkSync(outside, openclaw.path("workspace/memory/link.md"));
    symlinkSync(home.folder, openclaw.path("workspace/memory/folder"));
    const { remaining } = await json(["traces", "cabin/key"]);
    expect(remaining.found).toEqual([]);
    expect(remaining.unread.map(({ why }: { why: string }) => why)).toEqual([
      "a symbolic link, not followed",
      "a symbolic link, not followed",
    ]);
  });

  test("names what it did not read: too big, of another account, packed, a history of versions", async () => {
    await store();
    const big = await openclaw.write("workspace/big.log", NOTE);
    truncateSync(big, 2 * 1024 ** 3);
    await openclaw.write(
      "workspace/photos.zip",
      Buffer.concat([Buffer.from("PK\x03\x04"), Buffer.from(NOTE)]),
    );
    await openclaw.write("workspace/.git/HEAD", "ref: refs/heads/main\n");
    await openclaw.write("npm/node_modules/a/README.md", NOTE);
    await openclaw.write(
      "workspace/broken.gz",
      Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0]), Buffer.from(NOTE)]),
    );
    const foreign = await openclaw.write("workspace/theirs.md", NOTE);
    if (process.geteuid?.() === 0) chownSync(foreign, 12_345, 12_345);
    else await chmod(foreign, 0);
    const { remaining } = await json(["traces", "cabin/key"]);
    const reasons = Object.fromEntries(
      remaining.unread.map(({ path, why }: Record<string, string>) => [path?.split("/").at(-1), why]),
    );
    expect(reasons).toEqual({
      "big.log": "too big (2048 MiB)",
      "photos.zip": "a compressed archive",
      "broken.gz": "does not unpack",
      "theirs.md": process.geteuid?.() === 0 ? "belongs to another account" : "permission was denied",
      ".git": "a compressed history of versions",
      node_modules: "installed programs",
    });
    expect(remaining.found).toEqual([]);
  });

  test("binary files are searched, too", async () => {
    await store();
    await openclaw.write(
      "media/blob.bin",
      Buffer.concat([Buffer.alloc(70_000), Buffer.from(CANARY), Buffer.alloc(9)]),
    );
    expect(placesOf(await json(["traces", "cabin/key"]))).toEqual(["file media/blob.bin"]);
  });

  test("looks in the workspaces that the configuration names, and in no other state folder", async () => {
    await store();
    const work = home.path("work");
    await mkdir(work);
    writeFileSync(join(work, "MEMORY.md"), NOTE);
    await openclaw.write("openclaw.json", `{ agents: { entries: { work: { workspace: "~/work" } } } }`);
    const other = new OpenClawFolder(home.path("second"));
    await other.write("workspace/MEMORY.md", NOTE);
    const { remaining } = await json(["traces", "cabin/key"]);
    expect(remaining.found.map(({ path }: Found) => path)).toEqual([join(work, "MEMORY.md")]);
    const env = { OPENCLAW_STATE_DIR: other.stateDir };
    const second = JSON.parse((await home.run(["traces", "--json"], { input: CANARY, env })).stdout);
    expect(second.remaining.found.map(({ path }: Found) => path)).toEqual([
      other.path("workspace/MEMORY.md"),
    ]);
  });
});

describe("taking lines out", () => {
  const answering = async (answers: readonly string[], atQuestion?: (asked: string) => void) => {
    await store();
    await openclaw.write("workspace/MEMORY.md", NOTE);
    return person(["traces", "cabin/key"], answers, atQuestion);
  };
  const note = () => readFile(openclaw.path("workspace/MEMORY.md"), "utf8");

  // verifies P-traces-not-over-changes
  test("shows a diff, takes the agreed lines out, keeps mode and the rest, and has OpenClaw index again", async () => {
    await openclaw.write("workspace/MEMORY.md", "");
    await chmod(openclaw.path("workspace/MEMORY.md"), 0o640);
    const { stdout, stderr } = await answering(["y"]);
    expect(stderr).toContain("-     4  - The spare key of the cabin");
    expect(stderr).toContain("      3  - We deploy through Konflux.");
    expect(await note()).toBe("# Memory\n\n- We deploy through Konflux.\n- Tea, not coffee.\n");
    expect(statSync(openclaw.path("workspace/MEMORY.md")).mode & 0o777).toBe(0o640);
    expect(await readdir(openclaw.path("workspace"))).toEqual(["MEMORY.md"]);
    expect(readFileSync(home.path("asked"), "utf8")).toBe(`${home.stateFolder} memory index\n`);
    expect(stdout).toContain("Taken out: 1 line of");
    expect(stdout).toContain("Remaining: nothing was found");
  });

  test("without the person's yes, nothing is changed", async () => {
    const { stdout } = await answering(["n"]);
    expect(await note()).toBe(NOTE);
    expect(stdout).toContain("MEMORY.md, line 4");
  });

  // verifies P-traces-not-over-changes
  test("a note that was changed since it was read is not overwritten", async () => {
    const theirs = `${NOTE}- Written meanwhile.\n`;
    const { stderr } = await answering(["y"], () =>
      writeFileSync(openclaw.path("workspace/MEMORY.md"), theirs),
    );
    expect(await note()).toBe(theirs);
    expect(stderr).toContain("was changed since it was read");
    expect(await readdir(openclaw.path("workspace"))).toEqual(["MEMORY.md"]);
  });

  test("a note with a second name is left to the person", async () => {
    await openclaw.write("workspace/MEMORY.md", NOTE);
    linkSync(openclaw.path("workspace/MEMORY.md"), home.path("copy.md"));
    const { stderr } = await answering([]);
    expect(stderr).toContain("has a second name");
    expect(await note()).toBe(NOTE);
  });
});

describe("forget", () => {
  test("tells a person in one line where it still stands, and nothing to a script", async () => {
    await everywhere();
    const { stderr } = await person(["forget", "cabin/key"], ["y", "n"]);
    expect(stderr).toContain("It also stands in 2 notes, 1 dream diary, 2 conversations and 1 other file.");
    expect(stderr.slice(stderr.indexOf("It also"))).not.toContain("flowerpot");
    expect(stderr).toContain("To see where: helmdeck-memory traces (it asks for the words).");
    await store();
    expect((await run(["forget", "cabin/key", "--yes"])).stderr).toBe("");
  });

  test("shows where, if the person wants to see it, and offers to take lines out", async () => {
    await store();
    await openclaw.write("workspace/MEMORY.md", NOTE);
    const { stdout, stderr } = await person(["forget", "cabin/key"], ["y", "y", "y"]);
    expect(stderr).toContain("Show where? [y/N]");
    expect(stdout).toContain("Erased: the fact cabin/key of main");
    expect(stdout).toContain("Taken out: 1 line of");
    expect(await readFile(openclaw.path("workspace/MEMORY.md"), "utf8")).not.toContain("flowerpot");
  });

  test("says that nothing was found", async () => {
    await store();
    const { stderr } = await person(["forget", "cabin/key", "--yes"], []);
    expect(stderr).toMatch(/Nothing of it was found in \d+ files? of OpenClaw/);
  });

  // verifies P-traces-receipt
  test("a canary that was stored, said, noted, imported, exported and backed up: each byte of it is named in the receipt or gone", async () => {
    await everywhere();
    await run(["export", "--output", "in.jsonl"]);
    await run(["forget", "cabin/key", "--yes"]);
    copyFileSync(home.path("in.jsonl"), home.path("source.jsonl"));
    await rm(home.path("in.jsonl"));
    await run(["import", "source.jsonl"]);
    await run(["store", "cabin/key", `Former: ${CANARY.replace("third", "second")}`]);
    const database = await openclaw.openAgentDatabase([{ session: "s", text: `Former: ${CANARY}` }], [NOTE]);
    await run(["export", "--output", "out.jsonl", "--with-history"]);
    await run(["backup", "out.backup"]);
    const { code, stdout } = await run(["forget", "cabin/key", "--yes", "--traces"]);
    expect(code).toBe(0);
    expect(stdout).toContain("Erased: the fact cabin/key of main");
    expect(stdout).toContain("out.backup of ");
    expect(stdout).toMatch(/A restore would bring it back, until 20\d\d-/);
    expect(stdout).not.toContain("flowerpot");
    const holders = await filesWith("flowerpot");
    database.close();
    expect(holders.length).toBeGreaterThan(5);
    for (const path of holders) expect(stdout).toContain(path.replace(/-wal$/, ""));
    expect(holders).not.toContain(home.databasePath);
  });

  test("with --json, the receipt is a field of the answer", async () => {
    await everywhere();
    const { deleted, traces } = await json(["forget", "cabin/key", "--yes", "--traces"]);
    expect(deleted).toBe(1);
    expect(placesOf(traces)).toContain("note workspace/MEMORY.md");
    expect(traces.forgotten.scope).toBe("cabin/key");
  });

  test("a dry run looks, and takes nothing out", async () => {
    await store();
    await openclaw.write("workspace/MEMORY.md", NOTE);
    const { stdout, stderr } = await person(["forget", "cabin/key", "--dry-run", "--traces"], []);
    expect(stdout).toContain("MEMORY.md, line 4");
    expect(stdout).not.toContain("Erased");
    expect(stderr).not.toContain("[y/N]");
  });

  test("what of it was not looked for is said: values that are too common, records of runs", async () => {
    await store();
    await run(["store", "colour", "blue"]);
    const { stdout } = await run(["forget", "all", "--yes", "--traces"]);
    expect(stdout).toContain("Not looked for: 1 value too short or too common");
    expect(stdout).toContain("Not looked for: records of runs");
  });

  test("for every memory that an import gave facts to, the receipt is in the answer, too", async () => {
    writeFileSync(home.path("notes.md"), `- ${CANARY}\n`);
    const { import: id } = await json(["import", "--from", "markdown", "notes.md", "--yes"]);
    const { forgotten, traces } = await json(["forget", `import:${id}`, "--everyone", "--yes", "--traces"]);
    expect(forgotten).toMatchObject([{ caller: "main", deleted: 1 }]);
    expect(traces.remaining.found).toMatchObject([{ kind: "import", path: home.path("notes.md") }]);
  });

  test("backups made before the fact are not named, and one that is gone is said to be", async () => {
    await run(["store", "other", "We deploy through Konflux"]);
    await run(["backup", "before.backup"]);
    await store();
    await run(["store", "cabin/two", "Another spare key hangs behind the boathouse door"]);
    await run(["backup", "after.backup"]);
    const beside = `${home.databasePath}.before-restore-1`;
    copyFileSync(home.databasePath, beside);
    const { traces } = await json(["forget", "cabin/key", "--yes", "--traces"]);
    expect(traces.backups).toEqual([
      { kind: "backup", path: home.path("after.backup"), at: expect.any(String), is_there: true },
      { kind: "backup", path: beside, at: expect.any(String), is_there: true },
    ]);
    await rm(home.path("after.backup"));
    const { stdout } = await run(["forget", "cabin/two", "--yes", "--traces"]);
    expect(stdout).toMatch(/after\.backup of 20\d\d-\d\d-\d\d is no longer there/);
  });
});

/** Names, sizes and bytes of everything but our own files. */
async function snapshot(): Promise<Record<string, string>> {
  const names = await readdir(home.stateFolder, { recursive: true, withFileTypes: true });
  const files = names.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  const theirs = files.filter((path) => !path.includes("helmdeck-memory"));
  return Object.fromEntries(theirs.map((path) => [path, readFileSync(path).toString("base64")]));
}

/** Every file of the home that holds the word, also compressed. */
async function filesWith(word: string): Promise<readonly string[]> {
  const { gunzipSync, zstdDecompressSync } = await import("node:zlib");
  const names = await readdir(home.folder, { recursive: true, withFileTypes: true });
  const unpacked = (path: string, bytes: Buffer) =>
    path.endsWith(".gz") ? gunzipSync(bytes) : path.endsWith(".zst") ? zstdDecompressSync(bytes) : bytes;
  return names
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name))
    .filter((path) => unpacked(path, readFileSync(path)).includes(word));
}
