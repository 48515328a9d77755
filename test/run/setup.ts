/** Creates a folder for this run that its test files share. Other accounts may enter it, wherever the repository is. */
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
  // A compile cache for the processes that tests start: it saves each of them half a second.
  process.env.NODE_COMPILE_CACHE = join(folder, "compile-cache");
  // A process that is exiting may still write to the cache.
  return () => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}
