/** Files that are there only while something is made: private from their first byte, and gone afterwards, also when it fails. */
import { randomBytes } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** SQLite's own companions of a database, and the database. */
const PARTS = ["", "-wal", "-shm", "-journal"];

/** Lends the work a name beside `path` for each thing that it makes, and takes them all away when it is done. */
export async function withDrafts<T>(
  path: string,
  work: (draft: (kind: string) => string) => Promise<T>,
): Promise<T> {
  const drafts: string[] = [];
  try {
    return await work((kind) => {
      const draft = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.${kind}`);
      drafts.push(draft);
      return draft;
    });
  } finally {
    for (const draft of drafts) await Promise.all(PARTS.map((part) => remove(`${draft}${part}`)));
  }
}

/** A new file for the owner alone, on stable storage with all that the work put into it. */
export async function fillPrivate(path: string, fill: (file: FileHandle) => Promise<unknown>): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await fill(file);
    await file.sync();
  } finally {
    await file.close();
  }
}

function remove(path: string): Promise<void> {
  return rm(path, { force: true }).catch(() => undefined);
}
