/**
 * Files and folders that only their owner may read, each put in place whole, once, and for good.
 *
 * Who attacks: another account on the machine; a power cut; a second process doing the same at the same moment. What stops
 * them: modes 0600 and 0700 from the first instant, a file that gets its name only when its bytes are on disk, and a name
 * that is given once (link fails where a file already is). A file in place is never opened here: closing a descriptor of a
 * database would drop the locks that SQLite holds on it in this process. Root, whom no mode stops, makes nothing in the folder
 * of another account.
 */
import { randomBytes } from "node:crypto";
import { chmod, link, mkdir, open, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { HelmdeckError, systemCodeOf } from "../errors.ts";

/**
 * Makes the folder, and those above it that are missing, for the owner alone. An existing one is left as it is.
 *
 * @throws `store_unavailable` when root would make something in the folder of another account, which then could not open it.
 */
export async function makePrivateFolder(folder: string): Promise<void> {
  await refuseForeignFolder(folder);
  await makeFolder(folder);
}

async function makeFolder(folder: string): Promise<void> {
  if (await isFolder(folder)) return;
  const above = dirname(folder);
  await makeFolder(above);
  try {
    await mkdir(folder, { mode: 0o700 });
    await chmod(folder, 0o700); // the umask may leave less than the owner needs
    await syncFolder(above);
  } catch (error) {
    if (!isFileError(error, "EEXIST") || !(await isFolder(folder))) throw error;
  }
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** The account that a file or folder belongs to, where this process is root's and that is another: modes do not stop root. */
export function foreignOwner({ uid }: { readonly uid: number }): number | undefined {
  return process.geteuid?.() === 0 && uid !== 0 ? uid : undefined;
}

/** Looks at the folder, or the nearest one above it that is there. */
async function refuseForeignFolder(folder: string): Promise<void> {
  const found = await unlessMissing(stat(folder), undefined);
  if (found === undefined && folder !== dirname(folder)) return refuseForeignFolder(dirname(folder));
  const owner = found && foreignOwner(found);
  if (owner === undefined) return;
  throw new HelmdeckError(
    "store_unavailable",
    `The folder ${folder} belongs to another account (uid ${owner}), and this process is root's: what it makes there, that ` +
      "account could not open. Run it as that account, or choose a folder of root's.",
    { details: { path: folder, owner } },
  );
}

/**
 * Puts a file with these bytes at the path, unless something is there already; says whether it did. Its name is on stable
 * storage when this resolves, also when another process was faster.
 */
export async function placeOnce(path: string, bytes: Uint8Array): Promise<boolean> {
  const draft = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
  try {
    await writeSynced(draft, bytes);
    const placed = await linkOnce(draft, path);
    await syncFolder(dirname(path));
    return placed;
  } finally {
    // Best effort: the error that brought us here, if any, is the one to show.
    await rm(draft, { force: true }).catch(() => undefined);
  }
}

/** A file's name is durable only once its folder is synced; some network file systems know no such thing. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } catch (error) {
    if (!isFileError(error, "EINVAL", "ENOTSUP")) throw error;
  } finally {
    await handle.close();
  }
}

async function writeSynced(path: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(path, "wx", 0o600);
  try {
    await handle.chmod(0o600); // the umask may leave less than the owner needs
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function linkOnce(draft: string, path: string): Promise<boolean> {
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if (isFileError(error, "EEXIST")) return false;
    throw error;
  }
}

/** True for an error of the file system with one of these codes. */
export function isFileError(error: unknown, ...codes: readonly string[]): error is NodeJS.ErrnoException {
  return error instanceof Error && codes.includes(systemCodeOf(error));
}

/** What the work gives, or the other thing where the file or folder is not there. */
export async function unlessMissing<T, Other>(work: Promise<T>, otherwise: Other): Promise<T | Other> {
  return work.catch((error: unknown) => {
    if (isFileError(error, "ENOENT")) return otherwise;
    throw error;
  });
}
