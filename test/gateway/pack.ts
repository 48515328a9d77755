/** Before the tests that start gateways of their own: packs the plugin once. */
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { packPlugin } from "../../scripts/pack-plugin.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The packed plugin. */
    readonly tarball: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "helmdeck-pack-")));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    project.provide("tarball", await packPlugin(folder));
    return remove;
  } catch (error) {
    await remove();
    throw error;
  }
}
