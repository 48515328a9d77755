/**
 * Opens the notes of an OpenClaw workspace.
 *
 * Threat: an agent that writes there plants a symbolic link, so that an import brings in a file from elsewhere, or puts the link
 * in place between check and opening. Defence: links below the workspace are not followed, and each opened file is only read if
 * it lies where its name says.
 */
import { constants } from "node:fs";
import { type FileHandle, lstat, open, readdir, readlink, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { ImportFile } from "../app/transfer/formats/format.ts";
import { workspaceNotes } from "../app/transfer/formats/workspace-notes.ts";
import { HelmdeckError, systemCodeOf } from "../engine/errors.ts";
import { bytesOf, fileSource } from "./input.ts";

const LINK = "a symbolic link";
const NO_FOLLOW = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

export interface Workspace {
  readonly files: readonly ImportFile[];
  /** Skipped files, each with the reason. */
  readonly leftOut: readonly string[];
}

/** The folder itself may be a link, because the operator names it. */
export async function openWorkspace(folder: string): Promise<Workspace> {
  const root = await realpath(folder);
  const isLinked = (await lstat(join(root, "memory")).catch(() => undefined))?.isSymbolicLink() === true;
  const daily = isLinked ? [] : await readdir(join(root, "memory")).catch(() => []);
  const names = workspaceNotes([...(await readdir(root)), ...daily.map((name) => `memory/${name}`)]);
  const files: ImportFile[] = [];
  const leftOut = isLinked ? [`memory (${LINK})`] : [];
  for (const name of names) {
    const problem = await problemOf(join(root, name));
    if (problem === undefined) files.push(noteFile(join(folder, name), join(root, name)));
    else leftOut.push(`${name} (${problem})`);
  }
  return { files, leftOut };
}

function noteFile(name: string, path: string): ImportFile {
  return { name, open: () => bytesOf(fileSource(name, () => openNote(name, path))) };
}

/** Throws `invalid_input` for a file that was replaced by a link since it was listed. */
async function openNote(name: string, path: string): Promise<FileHandle> {
  const opened = await openInPlace(path);
  if (typeof opened !== "string") return opened;
  throw new HelmdeckError(
    "invalid_input",
    `${name} is ${opened}, and was not when the import began. Import that file by its own path, if you trust it.`,
  );
}

async function problemOf(path: string): Promise<string | undefined> {
  try {
    const opened = await openInPlace(path);
    if (typeof opened === "string") return opened;
    await opened.close();
  } catch {} // reported when it is read
  return undefined;
}

/** The opened file, or why it is not one at this place. `path` has no links above the workspace. */
async function openInPlace(path: string): Promise<FileHandle | string> {
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
