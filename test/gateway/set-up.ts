/**
 * The result of a set-up, which goes on beside the first tests: vitest runs set-ups one after another, and starts no test before they
 * return. So the result is a file, and the tests that need it wait for that.
 */
import { mkdtemp, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import type { TestProject } from "vitest/node";
import { buildAll } from "../../scripts/build/build.ts";
import type { OpenClawHome } from "../../scripts/openclaw-host/openclaw-host.ts";
import type { OpenClawRuntime } from "../../scripts/openclaw-host/runtime.ts";

declare module "vitest" {
  interface ProvidedContext {
    readonly setUpFile: string;
  }
}

export interface SetUp {
  /** Of the packed plugin. */
  readonly tarball: string;
  /** The OpenClaw version that these tests run. */
  readonly runtime: OpenClawRuntime;
  /** Absent if the tests start their own gateways. */
  readonly gateway?: { readonly home: OpenClawHome; readonly pid: number; readonly modelUrl: string };
}

type Outcome = { readonly setUp: SetUp } | { readonly failure: string };
type CleanUp = () => Promise<unknown>;

/** Makes something in a folder of its own that is deleted after the tests. `onEnd` takes what else to do then, in reverse order. */
export type Make = (folder: string, onEnd: (cleanUp: CleanUp) => void) => Promise<SetUp>;

export async function beginSetUp(project: TestProject, make: Make): Promise<() => Promise<void>> {
  await buildAll(); // never two at once
  const folder = await realpath(await mkdtemp(join(tmpdir(), "helmdeck-pack-")));
  const cleanUps: CleanUp[] = [() => rm(folder, { recursive: true, force: true })];
  const file = join(folder, "set-up.json");
  project.provide("setUpFile", file);
  const announced = announce(
    file,
    make(folder, (cleanUp) => cleanUps.unshift(cleanUp)),
  );
  return async () => {
    await announced;
    for (const cleanUp of cleanUps) await cleanUp();
  };
}

async function announce(file: string, made: Promise<SetUp>): Promise<void> {
  const outcome = await made.then(
    (setUp): Outcome => ({ setUp }),
    (error): Outcome => ({ failure: inspect(error) }),
  );
  await writeFile(`${file}.part`, JSON.stringify(outcome));
  await rename(`${file}.part`, file);
}

/** Throws while there is no outcome. */
export async function readOutcome(file: string): Promise<Outcome> {
  return JSON.parse(await readFile(file, "utf8"));
}
