/**
 * Reads and creates master key files.
 *
 * Dangers: another account that can read the file; two processes that both find none and each create one, so that one of them
 * seals under a key that is lost. So a file that others can read, or one that root finds to belong to another account, is
 * refused, and creation is a race with exactly one winner, whose key the loser reads.
 */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, open } from "node:fs/promises";
import { dirname } from "node:path";
import { defined } from "../defined.ts";
import { HelmdeckError } from "../errors.ts";
import {
  deadEndOf,
  foreignOwner,
  fullOrReadonly,
  isFileError,
  makePrivateFolder,
  placeOnce,
} from "../private-file.ts";
import { MasterKey, parseKey } from "./master-key.ts";

/** A key has 64 digits; a much larger file is a mistake and is not read. */
const LARGEST_KEY_FILE_BYTES = 1_024;

const GROUP_AND_OTHERS = 0o077;

/** A key file's content, and who else can read it. */
export interface FoundKey {
  readonly key: MasterKey;
  /** The file's mode, such as "0644", when group or others have access. */
  readonly sharedMode?: string;
  /** The owner of the file, when this process runs as root and the owner is another account. */
  readonly owner?: number;
}

/**
 * Reads a private key file: 64 hexadecimal digits, surrounded by optional white space.
 *
 * @throws `key_missing` when there is no such file, `key_unreadable` when it cannot be read, is not a regular file, or is
 * accessible to group or others, `key_malformed` when it holds something else.
 */
export async function readKeyFile(path: string): Promise<MasterKey> {
  return requirePrivate(path, await requireKeyFile(path));
}

/**
 * Creates a private key file, or reads the existing one. If several processes do so at once, one creates it (`made`) and all get
 * the same key. Throws like {@link readKeyFile}; `store_readonly` or `store_full` when it cannot be written.
 */
export async function makeKeyFile(
  path: string,
): Promise<{ readonly key: MasterKey; readonly made: boolean }> {
  const bytes = randomBytes(32);
  const made = await place(path, Buffer.from(`${bytes.toString("hex")}\n`, "latin1"));
  return { key: made ? new MasterKey(bytes) : await readKeyFile(path), made };
}

/** Like {@link findKeyFile}, but throws `key_missing` when there is none. */
export async function requireKeyFile(path: string): Promise<FoundKey> {
  const found = await findKeyFile(path);
  if (found === undefined) throw missing(path);
  return found;
}

/** The key in a file, whoever can read it; undefined when nothing is at the path. */
export async function findKeyFile(path: string): Promise<FoundKey | undefined> {
  const handle = await openKeyFile(path);
  if (handle === undefined) return undefined;
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw unreadable(path, "is not a regular file");
    if (stats.size > LARGEST_KEY_FILE_BYTES) {
      throw unreadable(path, `has ${stats.size} bytes, but a key file has 65; this is not a key file`);
    }
    const key = parseKey((await handle.readFile("latin1")).trim(), path);
    const mode = stats.mode & 0o777;
    return {
      key,
      ...((mode & GROUP_AND_OTHERS) !== 0 && { sharedMode: `0${mode.toString(8).padStart(3, "0")}` }),
      ...defined({ owner: foreignOwner(stats) }),
    };
  } finally {
    await handle.close();
  }
}

/** The key, provided that only its owner has access to the file. */
export function requirePrivate(path: string, found: FoundKey): MasterKey {
  if (found.owner !== undefined) {
    throw unreadable(
      path,
      `belongs to another account (uid ${found.owner}), and this process runs as root. Run it as that account; for a key that root may ` +
        "use, set HELMDECK_MEMORY_KEY_FILE to its path",
    );
  }
  if (found.sharedMode === undefined) return found.key;
  throw unreadable(
    path,
    `is accessible to other accounts (mode ${found.sharedMode}), so others may know the key. ` +
      `Run \`chmod 600 ${path}\`; if others have read it, move to a new store with a new key`,
  );
}

async function openKeyFile(path: string): Promise<FileHandle | undefined> {
  try {
    // Without O_NONBLOCK, opening a named pipe would wait for a writer.
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (isFileError(error, "ENOENT")) return refuseDanglingLink(path);
    const why = isFileError(error, "EACCES", "EPERM") ? undefined : deadEndOf(error);
    throw unreadable(path, why ?? "cannot be opened; check its owner and mode", error);
  }
}

/** A link to a missing file, for example on a volume that is not mounted, does not mean "no key": no new key may replace it. */
async function refuseDanglingLink(path: string): Promise<undefined> {
  const isLink = await lstat(path).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  );
  if (isLink) throw missing(path, "is a symbolic link to a missing file");
  return undefined;
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
  const said = {
    full: `the key file ${path} was not created`,
    readonly: `The key file ${path} cannot be created. Make its folder writable, or set HELMDECK_MEMORY_KEY.`,
  };
  return (
    fullOrReadonly(path, cause, said) ??
    unreadable(path, deadEndOf(cause) ?? "cannot be created; see the cause", cause)
  );
}

function missing(path: string, why = "is missing"): HelmdeckError {
  return new HelmdeckError(
    "key_missing",
    `The key file ${path} ${why}. Restore it from your backup, or set HELMDECK_MEMORY_KEY.`,
    { details: { path } },
  );
}

function unreadable(path: string, why: string, cause?: unknown): HelmdeckError {
  return new HelmdeckError("key_unreadable", `The key file ${path} ${why}.`, { details: { path }, cause });
}
