/**
 * A database that may have a damaged log, for reading row by row.
 *
 * SQLite reads a log up to the first frame that is not as it was written. Behind it there may be many that are, and each holds a page of
 * the database: so all of them are put into a copy, in the order in which they were written, up to the last whole commit. Where a
 * page's newest frame is damaged, an older one stays: rows authenticate one by one, so none is believed that was not written.
 */
import { copyFile, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isLogDamaged } from "./log-damage.ts";
import { assumedHeaderOf, framesOf, type LogFrame, logHeaderOf } from "./log-frames.ts";
import { type ReadBytes, readingBytes } from "./read-bytes.ts";
import type { OpenMode } from "./sqlite-driver.ts";

export interface Readable {
  readonly path: string;
  readonly mode: OpenMode;
  readonly log: "whole" | "damaged";
}

/** Does the work with the database itself where its log is whole, and else with a copy that is gone afterwards. */
export async function readingWhole<T>(file: string, work: (readable: Readable) => Promise<T>): Promise<T> {
  if (!(await isLogDamaged(file))) return work({ path: file, mode: "read", log: "whole" });
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
  /** How many the database has; 0 where no commit is whole. */
  readonly count: number;
}

/** The newest whole frame of each page, up to the last whole commit. */
function committedPagesIn(read: ReadBytes, pageBytes: number): CommittedPages {
  const header = logHeaderOf(read) ?? assumedHeaderOf(read, pageBytes);
  const pages = new Map<number, Buffer>();
  let count = 0;
  let since: LogFrame[] = [];
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

/** As the database's first page says. */
function pageBytesOf(read: ReadBytes): number {
  const bytes = read(16, 2).readUInt16BE(0);
  return bytes === 1 ? 65_536 : bytes;
}
