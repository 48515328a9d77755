/** Opens the notes of an OpenClaw workspace. Links below the workspace are not followed (see app/open-in-place.ts). */
import { type FileHandle, lstat, readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { LINK, openInPlace } from "../app/open-in-place.ts";
import type { ImportFile } from "../app/transfer/formats/format.ts";
import { workspaceNotes } from "../app/transfer/formats/workspace-notes.ts";
import { HelmdeckError } from "../engine/errors.ts";
import { bytesOf, fileSource } from "./input.ts";

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
