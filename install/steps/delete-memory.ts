/** Permanently deletes the memory on this machine, and its key. */
import { existsSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { HelmdeckError } from "../../engine/errors.ts";
import type { Environment } from "../environment.ts";
import type { MemoryLocation } from "../installation-facts.ts";
import { EXIT, requireOpenClaw, type StepDefinition } from "./step-definition.ts";

interface DeleteMemory extends MemoryLocation {
  readonly kind: "delete-memory";
  readonly facts?: number;
}

export const deleteMemory: StepDefinition<DeleteMemory> = {
  kind: "delete-memory",
  title: ({ databasePath, keyPath, facts }) =>
    `delete the memory for good${facts === undefined ? "" : `, with ${facts === 1 ? "its only fact" : `all ${facts} facts`}`} (${databasePath}), and its key (${keyPath})`,
  exitCode: EXIT.openclaw,
  run: async ({ databasePath, keyPath }) => {
    // The folder that the plugin makes is ours; elsewhere only the database's own files are. A link to it is deleted as a link.
    const files = memoryFiles({ databasePath, keyPath });
    const folder = dirname(databasePath);
    const isOurs = folder === join(dirname(keyPath), "helmdeck-memory");
    for (const path of isOurs ? [...files, folder] : files) await rm(path, { recursive: true, force: true });
  },
};

/** How many facts there are, of all callers. Undefined if the memory does not open, for instance without its key. */
export async function countFacts(
  place: MemoryLocation,
  env: Environment["env"],
): Promise<number | undefined> {
  try {
    // Only here: nothing else of the installer needs a database.
    const { openMemory } = await import("../../app/open-memory.ts");
    const { everyCaller } = await import("../../app/overview.ts");
    const { betterSqliteDriver } = await import("../../engine/store/sqlite/better-sqlite-driver.ts");
    const memory = await openMemory({ ...place, env, driver: betterSqliteDriver, access: "read" });
    try {
      const all = await everyCaller(memory);
      const each = await Promise.all(all.map(({ subject }) => memory.status(subject)));
      return each.reduce((sum, { subject }) => sum + (subject?.facts ?? 0), 0);
    } finally {
      await memory.close();
    }
  } catch {
    return undefined;
  }
}

/** What there is to delete, without the folder. */
export function memoryFiles({ databasePath, keyPath }: MemoryLocation): readonly string[] {
  const files = ["", "-wal", "-shm", "-journal", "-reserve.tmp"].map((ending) => `${databasePath}${ending}`);
  const indexes = join(dirname(databasePath), `indexes-of-${basename(databasePath)}`);
  return [...[...files, indexes].filter((path) => existsSync(path)), ...ofKey(keyPath)];
}

/** Copies that a person named stay. */
const OURS = /^(|\.new|\.former-[0-9a-f]{16}|\.stores\.json)$/;

/** The key, former keys, and notes next to them. */
function ofKey(keyPath: string): readonly string[] {
  const folder = dirname(keyPath);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const endings = names.map((name) => [name, name.slice(basename(keyPath).length)] as const);
  const ours = endings.filter(([name, ending]) => name.startsWith(basename(keyPath)) && OURS.test(ending));
  return ours.map(([name]) => join(folder, name));
}

interface DeleteMemoryInContainer {
  readonly kind: "delete-memory-in-container";
  readonly container: string;
}

const FILES = "helmdeck-memory helmdeck-memory.key";
/** Prints what was there. */
const DELETE = `cd "\${OPENCLAW_STATE_DIR:-$HOME/.openclaw}" && { ls -d ${FILES} 2>/dev/null; rm -rf ${FILES}; }`;

/** Permanently deletes the memory in OpenClaw's container, and its key. */
export const deleteMemoryInContainer: StepDefinition<DeleteMemoryInContainer> = {
  kind: "delete-memory-in-container",
  title: ({ container }) => `delete the memory in ${container} and its key`,
  exitCode: EXIT.openclaw,
  run: async ({ container }, context) => {
    const ran = await requireOpenClaw(context).exec(["sh", "-c", DELETE]);
    if (ran.exitCode !== 0)
      throw new HelmdeckError("store_unavailable", `The memory in ${container} could not be deleted.`);
    return ran.stdout.trim() === "" ? "there was none" : undefined;
  },
};
