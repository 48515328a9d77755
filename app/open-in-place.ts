/**
 * Opens a file of somebody else's folder to read, never another one in its place.
 *
 * Threat: an agent that writes in the folder plants a symbolic link, or puts one in place between check and opening, so that a
 * file from elsewhere is read. Defence: links are not followed, and an opened file is only given out if it lies where its name
 * says.
 */
import { constants } from "node:fs";
import { type FileHandle, lstat, open, readlink, realpath } from "node:fs/promises";
import { systemCodeOf } from "../engine/errors.ts";

export const LINK = "a symbolic link";
/** Without O_NONBLOCK, opening a named pipe would wait for a writer. */
const NO_FOLLOW = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/** The opened file, or why it is not one at this place. `path` has no links above the folder. Throws the system's errors. */
export async function openInPlace(path: string): Promise<FileHandle | string> {
  const file = await open(path, NO_FOLLOW).catch((error: unknown) => {
    if (systemCodeOf(error) === "ELOOP") return LINK;
    throw error;
  });
  if (typeof file === "string") return file;
  const problem = await problemWith(file, path).catch(() => "not at its place");
  if (problem !== undefined) await file.close();
  return problem ?? file;
}

async function problemWith(file: FileHandle, path: string): Promise<string | undefined> {
  if (!(await file.stat()).isFile()) return "not a regular file";
  return (await isAt(file, path)) ? undefined : "not at its place";
}

/** Linux tells where the opened file is. Elsewhere, the path must have no link and lead to the same file. */
async function isAt(file: FileHandle, path: string): Promise<boolean> {
  const place = await readlink(`/proc/self/fd/${file.fd}`).catch(() => undefined);
  if (place !== undefined) return place === path;
  const [opened, there, real] = await Promise.all([file.stat(), lstat(path), realpath(path)]);
  return real === path && there.dev === opened.dev && there.ino === opened.ino;
}
