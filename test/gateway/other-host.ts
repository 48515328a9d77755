/**
 * Set-up of the tests that run on other OpenClaw versions than the locked one: installs OpenClaw from the registry, packs the plugin and
 * starts the gateway. The default is the oldest supported version on its oldest Node; HELMDECK_OPENCLAW chooses another, such as
 * `2026.9.1/24.21.0`.
 */
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { OLDEST_HOST } from "../../scripts/build/plugin-package.ts";
import { installOpenClaw } from "../../scripts/openclaw-host/runtime.ts";
import { setUpWith } from "./setup.ts";

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "helmdeck-host-")));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const runtime = await installOpenClaw(versions(), folder);
    const stop = await setUpWith(runtime, project);
    return () => stop().finally(remove);
  } catch (error) {
    await remove();
    throw error;
  }
}

function versions() {
  const [openclaw = OLDEST_HOST.openclaw, node = OLDEST_HOST.node] =
    process.env.HELMDECK_OPENCLAW?.split("/") ?? [];
  return { openclaw, node };
}
