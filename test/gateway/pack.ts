/** Set-up of the tests that start their own gateways: packs the plugin once. */
import type { TestProject } from "vitest/node";
import { LOCKED_OPENCLAW } from "../../scripts/openclaw-host/runtime.ts";
import { packPlugin } from "../../scripts/pack.ts";
import { beginSetUp } from "./set-up.ts";

export default function setup(project: TestProject): Promise<() => Promise<void>> {
  return beginSetUp(project, async (folder) => ({
    tarball: await packPlugin(folder),
    runtime: LOCKED_OPENCLAW,
  }));
}
