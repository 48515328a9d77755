/** Creates the memory's key by opening memory once, as the plugin would. An uninstallation keeps the key. */

import { openMemory } from "../../app/open-memory.ts";
import { nodeSqliteDriver } from "../../engine/store/sqlite/node-sqlite-driver.ts";
import type { MemoryLocation } from "../installation-facts.ts";
import { EXIT, type StepDefinition } from "./step-definition.ts";

interface MakeKey extends MemoryLocation {
  readonly kind: "make-key";
}

export const makeKey: StepDefinition<MakeKey> = {
  kind: "make-key",
  title: () => "create the memory's key",
  detail: ({ keyPath }) => `${keyPath}; back it up: without it nothing can be read`,
  exitCode: EXIT.openclaw,
  run: async ({ databasePath, keyPath }, { environment: { env } }) => {
    const memory = await openMemory({
      databasePath,
      keyPath,
      env,
      driver: nodeSqliteDriver,
      sweepEveryMs: 0,
    });
    await memory.close();
  },
};
