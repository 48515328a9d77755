/** Before any test: a folder of this run alone, for what its files share. Other accounts may enter it, wherever the tree lies. */
import { chmod, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    readonly runFolder: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), "helmdeck-run-"));
  await chmod(folder, 0o755);
  project.provide("runFolder", folder);
  // The processes that tests start are compiled once: half a second less for each that runs from source.
  process.env.NODE_COMPILE_CACHE = join(folder, "compile-cache");
  // A process that is just ending may still write its share of the cache.
  return () => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}
