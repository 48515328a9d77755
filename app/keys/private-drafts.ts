/** Temporary files: private from their first byte, and removed afterwards, even after a failure. */
import { randomBytes } from "node:crypto";
import { type FileHandle, open, readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { removeOld } from "../../engine/private-file.ts";

/** The database and SQLite's companion files. */
const PARTS = ["", "-wal", "-shm", "-journal"];
/** A draft not written to for this long belongs to a killed process. */
const ABANDONED_AFTER_MS = 24 * 3_600_000;
const DRAFT = /^\.(?<of>.+)\.[0-9a-f]{12}\.[a-z]+(?:-wal|-shm|-journal)?$/;

/**
 * Gives the work a temporary name beside `path` for each thing that it creates, and removes them all at the end; removes drafts
 * that a killed process left there more than a day ago first.
 */
export async function withDrafts<T>(
  path: string,
  work: (draft: (kind: string) => string) => Promise<T>,
): Promise<T> {
  // Compares the file system's clock with this machine's: if they differ, a draft stays too long, or a backup
  // is made again.
  const names = await readdir(dirname(path)).catch(() => []);
  for (const name of names.filter((name) => DRAFT.exec(name)?.groups?.of === basename(path)))
    await removeOld(join(dirname(path), name), Date.now() - ABANDONED_AFTER_MS);
  const drafts: string[] = [];
  try {
    return await work((kind) => {
      const draft = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.${kind}`);
      drafts.push(draft);
      return draft;
    });
  } finally {
    for (const draft of drafts)
      await Promise.all(PARTS.map((part) => rm(`${draft}${part}`, { force: true }).catch(() => undefined)));
  }
}

/** Creates a private file and syncs everything that the work wrote to it. */
export async function fillPrivate(path: string, fill: (file: FileHandle) => Promise<unknown>): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await fill(file);
    await file.sync();
  } finally {
    await file.close();
  }
}
