/** Hashes of a folder's contents, to check that nothing was written. */
import { createHash } from "node:crypto";
import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import { join, relative } from "node:path";

/** Every entry below the folder by its path: type, mode and hash. Leaves out SQLite's `-shm` and an empty `-wal`. */
export async function fingerprintOf(folder: string): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const stats = await lstat(path);
    if (path.endsWith("-shm") || (path.endsWith("-wal") && stats.size === 0)) continue;
    found[relative(folder, path)] =
      `${stats.mode.toString(8)} ${stats.isFile() ? stats.mtimeMs : ""} ${await contentOf(path)}`;
  }
  return found;
}

async function contentOf(path: string): Promise<string> {
  const stats = await lstat(path);
  if (stats.isSymbolicLink()) return `-> ${await readlink(path)}`;
  if (!stats.isFile()) return "";
  return createHash("sha256")
    .update(await readFile(path))
    .digest("hex");
}
