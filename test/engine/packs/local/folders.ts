/** A folder for one test, gone when it is over. */
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export async function tempFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "helmdeck-packs-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
