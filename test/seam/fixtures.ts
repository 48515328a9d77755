/** A project and a memory in a folder of their own, and the seam over both, made as on the command line. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { FactInput } from "../../app/memory.ts";
import { openMemory } from "../../app/open-memory.ts";
import { rankFacts } from "../../app/rank-facts.ts";
import { betterSqliteDriver } from "../../engine/store/sqlite/better-sqlite-driver.ts";
import { createSeam, PHASES, type Seam, type SeamOptions } from "../../seam/index.ts";
import { NOW } from "../app/fixtures/memories.ts";

export const SLUG = "heron";

export class SeamHome {
  readonly folder: string;
  readonly repo: string;
  readonly databasePath: string;
  readonly keyPath: string;
  /** The messages for people from the last seam. */
  readonly notes: string[] = [];

  /** Removed when the test ends. */
  static async make(): Promise<SeamHome> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "helmdeck-seam-")));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const home = new SeamHome(folder);
    await home.write(".harness/project.json", JSON.stringify({ vault_project: SLUG }));
    return home;
  }

  private constructor(folder: string) {
    this.folder = folder;
    this.repo = join(folder, "repo");
    this.databasePath = join(folder, "home", "memory", "memory.sqlite");
    this.keyPath = join(folder, "home", "memory.key");
  }

  get place() {
    const env: Readonly<Record<string, string | undefined>> = { PATH: process.env.PATH, HOME: this.folder };
    return {
      databasePath: this.databasePath,
      keyPath: this.keyPath,
      env,
      driver: betterSqliteDriver,
      now: () => NOW,
    };
  }

  /** Writes a file of the project. */
  async write(name: string, content: string | Uint8Array): Promise<string> {
    const path = join(this.repo, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
    return path;
  }

  /** Stores with the use case of every surface. Later facts are newer. */
  async store(facts: readonly FactInput[], subject = "main"): Promise<void> {
    let now = NOW - 1_000_000;
    const memory = await openMemory({ ...this.place, now: () => now, sweepEveryMs: 0 });
    for (const fact of facts) {
      now += 1_000;
      await memory.storeFact(subject, fact);
    }
    await memory.close();
  }

  seam(options: Partial<SeamOptions> = {}): Seam {
    this.notes.length = 0;
    return createSeam({
      memory: this.place,
      subject: "main",
      rank: rankFacts,
      cwd: this.repo,
      onNote: (note) => void this.notes.push(note),
      ...options,
    });
  }
}

/** A fact of the project that recall looks for. */
export function projectFact(category: string, name: string, value: string, slug = SLUG): FactInput {
  return { key: `projects/${slug}/${category}/${name}`, category, value };
}

/** All three questions in all their forms, including ones that fail. */
export async function askEverything(
  seam: Seam,
  cwd: string,
): Promise<readonly PromiseSettledResult<unknown>[]> {
  const questions = PHASES.flatMap((phase) => [
    () => seam.recallHere({ phase }),
    () => seam.recallHere({ phase, cwd }, { query: "one file database", limit: 50 }),
    () => seam.offerSaveHere({ phase }, { kind: "decision", slug: phase, body: "text" }),
    () => seam.statePath({ phase }, "plan"),
    () => seam.statePath({ phase, plan: `../${phase}` }, "progress"),
  ]);
  const answers: PromiseSettledResult<unknown>[] = [];
  for (const ask of questions) answers.push(...(await Promise.allSettled([ask()])));
  return answers;
}
