import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  symlink,
  watch,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Phrases } from "../../app/traces/phrases.ts";
import { readNote, takeOut } from "../../app/traces/take-out.ts";

const NOTE = "- Tea.\n- The spare key of the cabin lies under the third flowerpot.\n- Coffee.\n";
const PHRASES = Phrases.ofValues(["The spare key of the cabin lies under the third flowerpot"]);

async function noteIn(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, "a.md");
  await writeFile(path, NOTE);
  return path;
}

async function root(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "helmdeck-take-out-")));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** The names that are written in a folder until the signal. */
async function writtenIn(folder: string, until: AbortSignal): Promise<readonly string[]> {
  const names: string[] = [];
  try {
    for await (const { filename } of watch(folder, { signal: until })) names.push(String(filename));
  } catch {} // the signal
  return names;
}

// verifies P-traces-not-over-changes
test.each(["work/memory", "work"])(
  "a link that was put in the place of %s leads to no other folder, not even for the draft",
  async (swapped) => {
    const folder = await root();
    const path = await noteIn(join(folder, "work/memory"));
    const theirs = await noteIn(join(folder, "other/memory"));
    const note = await readNote(path, PHRASES);
    await rename(join(folder, swapped), join(folder, "moved"));
    await symlink(join(folder, swapped.replace("work", "other")), join(folder, swapped));
    const stop = new AbortController();
    const written = writtenIn(dirname(theirs), stop.signal);
    await expect(takeOut(note, note.places)).rejects.toThrow("nothing was changed");
    await writeFile(join(dirname(theirs), "end"), "");
    setTimeout(() => stop.abort(), 50);
    expect((await written).filter((name) => name !== "end")).toEqual([]);
    expect(await readFile(theirs, "utf8")).toBe(NOTE);
  },
);

// verifies P-traces-not-over-changes
test.each([
  ["a longer note", `${NOTE}- Mine.\n`],
  ["other line ends", NOTE.replaceAll("\n", "\r\n")],
  ["the same length", NOTE.replace("Tea", "Sea")],
])("%s that was written since the diff is left alone", async (_, theirs) => {
  const path = await noteIn(join(await root(), "memory"));
  const note = await readNote(path, PHRASES);
  await writeFile(path, theirs);
  await expect(takeOut(note, note.places)).rejects.toMatchObject({ code: "changed_meanwhile" });
  expect(await readFile(path, "utf8")).toBe(theirs);
});

// verifies P-traces-words
test("nothing of the lines that are taken out is kept", async () => {
  const folder = await root();
  const path = await noteIn(join(folder, "memory"));
  const note = await readNote(path, PHRASES);
  await takeOut(note, note.places);
  expect(await readdir(join(folder, "memory"))).toEqual(["a.md"]);
  expect(await readFile(path, "utf8")).toBe("- Tea.\n- Coffee.\n");
});
