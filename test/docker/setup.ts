/** Before the Docker tests: an engine of their own with the images, and the package as npm installs it. */
import { rm } from "node:fs/promises";
import type { TestProject } from "vitest/node";
import { Engine, whyNoEngine } from "./engine.ts";
import { makeOllamaImage, makeOpenClawImage } from "./images.ts";
import { makePackage } from "./package.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Why there is none; then the Docker tests are left out, which in CI is a failure. */
    readonly engineMissing: string | undefined;
    /** How its client is told where it is. */
    readonly engineEnv: Readonly<Record<string, string>>;
    readonly packageRoot: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const missing = whyNoEngine();
  project.provide("engineMissing", missing);
  if (missing !== undefined) {
    if (process.env.HELMDECK_REQUIRE_DOCKER === "1")
      throw new Error(`The Docker tests must run here: ${missing}`);
    console.warn(`The Docker tests are left out: ${missing}.`);
    project.provide("engineEnv", {});
    project.provide("packageRoot", "");
    return async () => {};
  }
  const packageRoot = await makePackage();
  let engine: Engine | undefined;
  const teardown = async () => {
    await engine?.stop();
    await rm(packageRoot, { recursive: true, force: true });
  };
  try {
    engine = await Engine.start();
    await makeOllamaImage(engine);
    await makeOpenClawImage(engine);
    project.provide("engineEnv", { ...engine.env });
    project.provide("packageRoot", packageRoot);
    return teardown;
  } catch (error) {
    await teardown();
    throw error;
  }
}
