/** Set-up of the tests that start their own gateways: packs the plugin once. */
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { LOCKED_OPENCLAW, type OpenClawRuntime } from "../../scripts/openclaw-host/runtime.ts";
import { packPlugin } from "../../scripts/pack-plugin.ts";

declare module "vitest" {
  interface ProvidedContext {
    readonly tarball: string;
    /** The OpenClaw version that these tests run. */
    readonly runtime: OpenClawRuntime;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "helmdeck-pack-")));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    project.provide("tarball", await packPlugin(folder));
    project.provide("runtime", LOCKED_OPENCLAW);
    return remove;
  } catch (error) {
    await remove();
    throw error;
  }
}
