/** A folder that is removed after one test, and a function that waits for a file in it. */
import { once } from "node:events";
import { watch } from "node:fs";
import { mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export async function tempFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "helmdeck-packs-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Resolves with the content of the file once it exists in the folder. */
export async function fileIn(folder: string, name: string): Promise<string> {
  const changes = watch(folder);
  try {
    for (;;) {
      const change = once(changes, "change");
      const text = await readFile(join(folder, name), "utf8").catch(() => "");
      if (text !== "") return text;
      await change;
    }
  } finally {
    changes.close();
  }
}
