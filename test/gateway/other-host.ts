/**
 * Set-up of the tests that run on other OpenClaw versions than the locked one: installs OpenClaw from the registry, packs the plugin and
 * starts the gateway. The default is the oldest supported version on its oldest Node; HELMDECK_OPENCLAW chooses another, such as
 * `2026.9.1/24.21.0`.
 */
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { OLDEST_HOST } from "../../scripts/build/plugin-package.ts";
import { installOpenClaw } from "../../scripts/openclaw-host/runtime.ts";
import { beginSetUp } from "./set-up.ts";
import { startSharedGateway } from "./setup.ts";

export default function setup(project: TestProject): Promise<() => Promise<void>> {
  return beginSetUp(project, async (folder, onEnd) => {
    const runtime = await installOpenClaw(versions(), join(folder, "host"));
    return startSharedGateway(runtime, folder, onEnd);
  });
}

function versions() {
  const [openclaw = OLDEST_HOST.openclaw, node = OLDEST_HOST.node] =
    process.env.HELMDECK_OPENCLAW?.split("/") ?? [];
  return { openclaw, node };
}
