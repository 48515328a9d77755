/** What is remembered on this machine, and its key: gone for good. */
import { rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { MemoryLocation } from "../installation-facts.ts";
import { EXIT } from "../installer-exit-codes.ts";
import type { StepDefinition } from "./step-definition.ts";

interface DeleteMemory extends MemoryLocation {
  readonly kind: "delete-memory";
}

export const deleteMemory: StepDefinition<DeleteMemory> = {
  kind: "delete-memory",
  title: ({ databasePath, keyPath }) =>
    `delete what is remembered (${databasePath}) and its key (${keyPath})`,
  exitCode: EXIT.openclaw,
  run: async ({ databasePath, keyPath }) => {
    // The folder is ours alone where it has its usual name; elsewhere only the database's own files are.
    const isOurFolder = dirname(databasePath).endsWith("/helmdeck-memory");
    const files = ["", "-wal", "-shm"].map((ending) => `${databasePath}${ending}`);
    for (const path of isOurFolder ? [dirname(databasePath)] : files)
      await rm(path, { recursive: true, force: true });
    await rm(keyPath, { force: true });
  },
};
