/**
 * The file that holds a master key: read with care, made once.
 *
 * Who attacks: another account that can read the file; two processes that both find none and make one each, so that one
 * of them seals under a key that is gone. What stops them: a file that others may read, or that root finds to be another
 * account's, is refused, and making is a race
 * with exactly one winner, whose key the loser reads.
 */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, open } from "node:fs/promises";
import { dirname } from "node:path";
import { defined } from "../defined.ts";
import { HelmdeckError } from "../errors.ts";
import { MasterKey, parseKey } from "./master-key.ts";
import { foreignOwner, isFileError, makePrivateFolder, placeOnce } from "./private-file.ts";

/** A key is 64 digits; whatever is much larger was put there by mistake and need not be read. */
const LARGEST_KEY_FILE_BYTES = 1_024;

const GROUP_AND_OTHERS = 0o077;

/** A key file's content and who else may read it. */
export interface FoundKey {
  readonly key: MasterKey;
  /** The file's mode, such as "0644", when group or others have any access to it. */
  readonly sharedMode?: string;
  /** The account that the file belongs to, when this process is root's and that is another. */
  readonly owner?: number;
}

/**
 * The key in a file of the owner's: 64 hexadecimal digits, blanks around them allowed.
 *
 * @throws `key_missing` when there is no such file, `key_unreadable` when it cannot be read, is no plain file, or group
 * or others have access to it, `key_malformed` when it holds something else.
 */
export async function readKeyFile(path: string): Promise<MasterKey> {
  return requirePrivate(path, await requireKeyFile(path));
}

/**
 * Makes a key file for the owner alone, or reads the one that is there: of several processes that make it at once, one
 * does (`made`) and all get the same key. Throws as {@link readKeyFile}, `store_readonly` or `store_full` when it cannot
 * be written.
 */
export async function makeKeyFile(
  path: string,
): Promise<{ readonly key: MasterKey; readonly made: boolean }> {
  const bytes = randomBytes(32);
  const made = await place(path, Buffer.from(`${bytes.toString("hex")}\n`, "latin1"));
  return { key: made ? new MasterKey(bytes) : await readKeyFile(path), made };
}

/** As {@link findKeyFile}, but that there is none is `key_missing`. */
export async function requireKeyFile(path: string): Promise<FoundKey> {
  const found = await findKeyFile(path);
  if (found === undefined) throw missing(path);
  return found;
}

/** The key in a file, whoever may read it; undefined when nothing at all is at the path. */
export async function findKeyFile(path: string): Promise<FoundKey | undefined> {
  const handle = await openKeyFile(path);
  if (handle === undefined) return undefined;
  try {
    return await readOpened(path, handle);
  } finally {
    await handle.close();
  }
}

/** The key, if the owner alone has access to its file. */
export function requirePrivate(path: string, found: FoundKey): MasterKey {
  if (found.owner !== undefined) {
    throw unreadable(
      path,
      `belongs to another account (uid ${found.owner}), and this process runs as root. Run it as that account; a key that is ` +
        "root's to use is named in HELMDECK_MEMORY_KEY_FILE",
    );
  }
  if (found.sharedMode === undefined) return found.key;
  throw unreadable(
    path,
    `is accessible to other accounts (mode ${found.sharedMode}), so the key may be known. ` +
      `Run \`chmod 600 ${path}\`, and if others have read it, move to a new store with a new key`,
  );
}

async function openKeyFile(path: string): Promise<FileHandle | undefined> {
  try {
    // Without O_NONBLOCK, opening a named pipe would wait for someone to write into it.
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (isFileError(error, "ENOENT", "ENOTDIR")) return refuseDanglingLink(path);
    throw unreadable(path, "cannot be opened; check its owner and mode", error);
  }
}

/** A link to a file that is away, say on a volume not mounted, is not "no key": a new one must not be made in its place. */
async function refuseDanglingLink(path: string): Promise<undefined> {
  const isLink = await lstat(path).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  );
  if (isLink) throw missing(path, "is a symbolic link, and the file it points to is not there");
  return undefined;
}

async function readOpened(path: string, handle: FileHandle): Promise<FoundKey> {
  const stats = await handle.stat();
  if (!stats.isFile()) throw unreadable(path, "is not a plain file");
  if (stats.size > LARGEST_KEY_FILE_BYTES) {
    throw unreadable(path, `has ${stats.size} bytes, and a key file has 65; this is something else`);
  }
  const key = parseKey((await handle.readFile("latin1")).trim(), path);
  const mode = stats.mode & 0o777;
  return {
    key,
    ...((mode & GROUP_AND_OTHERS) !== 0 && { sharedMode: `0${mode.toString(8).padStart(3, "0")}` }),
    ...defined({ owner: foreignOwner(stats) }),
  };
}

async function place(path: string, content: Uint8Array): Promise<boolean> {
  try {
    await makePrivateFolder(dirname(path));
    return await placeOnce(path, content);
  } catch (error) {
    throw error instanceof HelmdeckError ? error : unwritable(path, error);
  }
}

function unwritable(path: string, cause: unknown): HelmdeckError {
  const options = { details: { path }, cause };
  if (isFileError(cause, "ENOSPC", "EDQUOT")) {
    return new HelmdeckError(
      "store_full",
      `The disk is full: no key file ${path}. Free some space.`,
      options,
    );
  }
  if (isFileError(cause, "EACCES", "EPERM", "EROFS")) {
    const remedy = "Make its folder writable, or give the key in HELMDECK_MEMORY_KEY.";
    return new HelmdeckError("store_readonly", `The key file ${path} cannot be made. ${remedy}`, options);
  }
  return new HelmdeckError("key_unreadable", `The key file ${path} cannot be made: see the cause.`, options);
}

function missing(path: string, why = "is not there"): HelmdeckError {
  return new HelmdeckError(
    "key_missing",
    `The key file ${path} ${why}. Restore it from your backup, or set HELMDECK_MEMORY_KEY.`,
    { details: { path } },
  );
}

function unreadable(path: string, why: string, cause?: unknown): HelmdeckError {
  return new HelmdeckError("key_unreadable", `The key file ${path} ${why}.`, { details: { path }, cause });
}
