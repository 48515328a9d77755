/** Set-up of the Docker tests: checks whether an engine can be started here, and makes the package as npm installs it. */
import { rm } from "node:fs/promises";
import type { TestProject } from "vitest/node";
import { whyNoEngine } from "./engine.ts";
import { makePackage } from "./package.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The reason why no engine can start. The Docker tests are then skipped; with HELMDECK_REQUIRE_DOCKER=1 the run fails. */
    readonly engineMissing: string | undefined;
    readonly packageRoot: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const missing = await whyNoEngine();
  project.provide("engineMissing", missing);
  if (missing !== undefined) {
    if (process.env.HELMDECK_REQUIRE_DOCKER === "1")
      throw new Error(`The Docker tests must run here: ${missing}`);
    console.warn(`The Docker tests are left out: ${missing}.`);
    project.provide("packageRoot", "");
    return async () => {};
  }
  const packageRoot = await makePackage();
  project.provide("packageRoot", packageRoot);
  return () => rm(packageRoot, { recursive: true, force: true });
}
