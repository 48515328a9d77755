/** The memory of a command that reads, or changes what is there, where nothing was stored yet: it is empty, and nothing is created for it. */
import { lstat } from "node:fs/promises";
import { isFileError } from "../engine/private-file.ts";
import { findKey } from "../engine/store/find-key.ts";
import { openStoreInMemory } from "../engine/store/sqlite/open-in-memory.ts";
import { composeMemory, type OpenMemory } from "./compose.ts";
import { refuseWithoutFolder, wasOpened } from "./keys/store-notes.ts";
import { type OpenMemoryOptions, settingsOf } from "./open-memory-options.ts";

/** False for anything at the path, such as a link to a missing file. */
export async function isAbsent(databasePath: string): Promise<boolean> {
  const found = [databasePath, `${databasePath}-wal`].map((path) =>
    lstat(path).then(
      () => true,
      (error: unknown) => !isFileError(error, "ENOENT"),
    ),
  );
  return !(await Promise.all(found)).includes(true);
}

/** Throws `store_unavailable` when a memory was opened there and its folder is gone, and the errors of reading the key. */
export async function openAbsentMemory(options: OpenMemoryOptions): Promise<OpenMemory> {
  const { databasePath, keyPath, driver, now = Date.now } = options;
  const { source, file: keyFile = keyPath } = (await findKey(options)) ?? { source: "none" };
  await refuseWithoutFolder(keyFile, databasePath);
  const notice = absentText(databasePath, await wasOpened(keyFile, databasePath));
  const memory = composeMemory({
    store: await openStoreInMemory({ now }),
    keepsVectors: false,
    location: { databasePath, keyPath, keySource: source, driver: driver.name },
    key: { source, made: false },
    ...(await settingsOf(options)),
  });
  const status: OpenMemory["status"] = async (subject) => ({
    ...(await memory.status(subject)),
    ...{ state: "none", notice },
  });
  return { ...memory, notice, status };
}

function absentText(databasePath: string, wasThere: boolean): string {
  return wasThere
    ? `There is no memory at ${databasePath}, but one was opened there before. ${IF_UNEXPECTED}`
    : `There is no memory at ${databasePath} yet. The first fact that is stored creates it.`;
}

export function anotherText(databasePath: string): string {
  return `${databasePath} is another memory than the one that was opened there before. ${IF_UNEXPECTED}`;
}

const IF_UNEXPECTED = "If you did not delete or replace that one, put it back, or restore a backup.";
