/** Files that are there only while something is made: private from their first byte, and gone afterwards, also when it fails. */
import { randomBytes } from "node:crypto";
import { type FileHandle, lstat, open, readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** SQLite's own companions of a database, and the database. */
const PARTS = ["", "-wal", "-shm", "-journal"];
/** A draft that nobody has written to for so long belongs to a process that was killed. */
const ABANDONED_AFTER_MS = 24 * 3_600_000;
const DRAFT = /^\.(?<of>.+)\.[0-9a-f]{12}\.[a-z]+(?:-wal|-shm|-journal)?$/;

/**
 * Lends the work a name beside `path` for each thing that it makes, and takes them all away when it is done; before that, those
 * that a killed process left there more than a day ago.
 */
export async function withDrafts<T>(
  path: string,
  work: (draft: (kind: string) => string) => Promise<T>,
): Promise<T> {
  await removeAbandoned(path);
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

async function removeAbandoned(path: string): Promise<void> {
  const names = await readdir(dirname(path)).catch(() => []);
  for (const name of names.filter((name) => DRAFT.exec(name)?.groups?.of === basename(path))) {
    const draft = join(dirname(path), name);
    if (await isAbandoned(draft)) await remove(draft);
  }
}

/** The file system's clock is compared with this machine's: when they differ, a draft stays too long, or a backup is made again. */
async function isAbandoned(draft: string): Promise<boolean> {
  const touchedAt = await lstat(draft).then(
    ({ mtimeMs }) => mtimeMs,
    () => Number.POSITIVE_INFINITY,
  );
  return Date.now() - touchedAt > ABANDONED_AFTER_MS;
}

function remove(path: string): Promise<void> {
  return rm(path, { force: true }).catch(() => undefined);
}
