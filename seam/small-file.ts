/**
 * Reads small text files in a working copy: markers and settings.
 *
 * Threat: an untrusted repository with a named pipe that blocks the reader, a huge file that fills its memory, or a dangling
 * link. Defence: a file is opened without blocking, must be a regular file, and is read up to a limit. Links to files are
 * followed, as in every editor; the content is only compared and shown.
 */
import { constants } from "node:fs";
import { type FileHandle, lstat, open } from "node:fs/promises";

/** `unusable`: the path exists but is not a small text file; `why` has the reason in a few words. */
export type SmallFile =
  | { readonly kind: "absent" }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "unusable"; readonly why: string };

/** The text of a UTF-8 file of at most `mostBytes`, without a byte order mark. */
export async function readSmallFile(path: string, mostBytes: number): Promise<SmallFile> {
  return withOpened(path, async (handle) => {
    const bytes = await readUpTo(handle, mostBytes + 1);
    if (bytes.byteLength > mostBytes) return unusable(`has more than ${mostBytes} bytes`);
    const text = decode(bytes);
    return text === undefined ? unusable("is not UTF-8 text") : { kind: "text", text };
  });
}

/** The beginning of a file of any size; invalid UTF-8 is replaced. */
export async function readBeginning(path: string, mostBytes: number): Promise<SmallFile> {
  return withOpened(path, async (handle) => {
    return { kind: "text", text: (await readUpTo(handle, mostBytes)).toString("utf8") };
  });
}

async function withOpened(
  path: string,
  read: (handle: FileHandle) => Promise<SmallFile>,
): Promise<SmallFile> {
  let handle: FileHandle | undefined;
  try {
    // Without O_NONBLOCK, opening a named pipe would wait for a writer.
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await handle.stat();
    if (stats.isDirectory()) return unusable("is a folder");
    return stats.isFile() ? await read(handle) : unusable("is not a regular file");
  } catch (error) {
    return explain(path, error instanceof Error && "code" in error ? String(error.code) : "unknown");
  } finally {
    await handle?.close();
  }
}

async function explain(path: string, code: string): Promise<SmallFile> {
  if (code === "ENOTDIR") return { kind: "absent" };
  if (code === "ENOENT") return (await isLink(path)) ? unusable("is a link to nothing") : { kind: "absent" };
  if (code === "EACCES" || code === "EPERM") return unusable("may not be read by this account");
  if (code === "ELOOP") return unusable("is a link that leads in a circle");
  return unusable(`cannot be read (${code})`);
}

function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  );
}

async function readUpTo(handle: FileHandle, mostBytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(mostBytes);
  let length = 0;
  while (length < mostBytes) {
    const { bytesRead } = await handle.read(buffer, length, mostBytes - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function unusable(why: string): SmallFile {
  return { kind: "unusable", why };
}
