/**
 * Makes a database with a damaged log readable.
 *
 * SQLite reads a log up to its first invalid frame. Intact frames, each with a page of the database, may follow. So all of them
 * are written into a copy, in order, up to the last intact commit. When a page's newest frame is damaged, an older one remains:
 * rows authenticate individually, so only genuine rows are accepted.
 */
import { copyFile, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ReadBytes, readingBytes } from "./read-bytes.ts";
import type { OpenMode } from "./sqlite-driver.ts";
import { isWalDamaged } from "./wal-damage.ts";
import { assumedHeaderOf, framesOf, type WalFrame, walHeaderOf } from "./wal-frames.ts";

export interface Readable {
  readonly path: string;
  readonly mode: OpenMode;
  readonly log: "whole" | "damaged";
}

/** Runs the work on the database itself when its log is intact, and otherwise on a temporary copy. */
export async function readingWhole<T>(file: string, work: (readable: Readable) => Promise<T>): Promise<T> {
  if (!(await isWalDamaged(file))) return work({ path: file, mode: "read", log: "whole" });
  const folder = await mkdtemp(join(tmpdir(), "helmdeck-memory-"));
  try {
    const path = join(folder, "memory.sqlite");
    await copyWithLog(file, path);
    return await work({ path, mode: "immutable", log: "damaged" });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function copyWithLog(file: string, to: string): Promise<void> {
  await copyFile(file, to);
  const pageBytes = readingBytes(file, pageBytesOf);
  const { pages, count } = readingBytes(`${file}-wal`, (read) => committedPagesIn(read, pageBytes));
  const copy = await open(to, "r+");
  try {
    for (const [number, content] of pages) await copy.write(content, 0, pageBytes, (number - 1) * pageBytes);
    if (count > 0) await copy.truncate(count * pageBytes);
  } finally {
    await copy.close();
  }
}

interface CommittedPages {
  readonly pages: ReadonlyMap<number, Buffer>;
  /** The database's number of pages; 0 when no commit is intact. */
  readonly count: number;
}

/** The newest intact frame of each page, up to the last intact commit. */
function committedPagesIn(read: ReadBytes, pageBytes: number): CommittedPages {
  const header = walHeaderOf(read) ?? assumedHeaderOf(read, pageBytes);
  const pages = new Map<number, Buffer>();
  let count = 0;
  let since: WalFrame[] = [];
  for (const frame of framesOf(read, header)) {
    if (!frame.isLinked || !frame.salts.equals(header.salts)) continue;
    since.push(frame);
    if (frame.committedPages === 0) continue;
    for (const { page, content } of since) pages.set(page, content);
    count = frame.committedPages;
    since = [];
  }
  return { pages, count };
}

/** According to the database's first page. */
function pageBytesOf(read: ReadBytes): number {
  const bytes = read(16, 2).readUInt16BE(0);
  return bytes === 1 ? 65_536 : bytes;
}
