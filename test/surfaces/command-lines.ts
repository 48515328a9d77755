/** Both command lines over one memory, run in this process. */

import { NO_EMBEDDINGS } from "../../app/embedding/embedding-settings.ts";
import type { StorageLocation } from "../../app/storage-location.ts";
import type { CommandContext } from "../../commands/command-line.ts";
import { betterSqliteDriver } from "../../engine/store/sqlite/better-sqlite-driver.ts";
import { subjectOf } from "../../plugin/identity.ts";
import { helmdeckLine } from "../../plugin/openclaw-commands.ts";
import { runPiped, type Seen } from "../cli/terminal.ts";

/** `helmdeck-memory <args>` in a script. */
export function helmdeckMemory(
  { databasePath, keyPath }: StorageLocation,
  [command = "", ...args]: readonly string[],
): Promise<Seen> {
  const env = { HELMDECK_MEMORY_KEY_FILE: keyPath };
  return runPiped([command, "--db", databasePath, ...args], { homeFolder: "/nowhere", env });
}

/** `openclaw helmdeck <args>` in a script; the default agent uses the memory of `subject`. */
export function openclawHelmdeck(
  { databasePath, keyPath }: StorageLocation,
  args: readonly string[],
  subject = "main",
  now: () => number = Date.now,
): Promise<Seen> {
  const settings = { databasePath, keyPath, env: {}, embeddings: NO_EMBEDDINGS, recall: "balanced" } as const;
  const line = helmdeckLine({
    settings: async () => settings,
    defaultAgent: "main",
    subjectOf: (agentId) =>
      subjectOf(agentId, { subjects: new Map([["main", subject]]), source: { kind: "embedded" } }),
    openClaw: () => ({ stateDir: "/nowhere", workspaces: [] }),
    hostFindings: async () => [],
    hostWarnings: () => [],
  });
  // One process must not open the same file with two SQLite libraries.
  const memoryOptions = async (context: CommandContext) => ({
    ...(await line.memoryOptions(context)),
    driver: betterSqliteDriver,
  });
  return runPiped(args, { homeFolder: "/nowhere", now, line: { ...line, memoryOptions } });
}
