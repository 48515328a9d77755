/**
 * Takes lines out of a note, and keeps nothing of them.
 *
 * Dangers: OpenClaw or a person writes the note meanwhile; a link or a second name leads elsewhere, or an agent puts a link in the
 * place of the note's folder; the process is killed. So a note that is not exactly what was read is not replaced, links are refused,
 * the draft is written in the opened folder, not by its path, and the new text gets the note's name in one step, with its mode and
 * owner. The draft never holds a line that is taken out.
 */
import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { type FileHandle, open, readlink, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { HelmdeckError, systemCodeOf } from "../../engine/errors.ts";
import { openInPlace } from "../open-in-place.ts";
import type { Phrases } from "./phrases.ts";

const LARGEST_NOTE_BYTES = 4 * 1024 * 1024;

/** A note as it was read. */
export interface ReadNote {
  readonly path: string;
  readonly bytes: Buffer;
  /** With their line ends. */
  readonly lines: readonly string[];
  /** Groups of adjacent lines with a phrase, from 1. */
  readonly places: readonly Place[];
}

export interface Place {
  readonly first: number;
  readonly last: number;
}

/** Throws `invalid_input` for a note whose lines cannot be taken out, with the reason. */
export async function readNote(path: string, phrases: Phrases): Promise<ReadNote> {
  const { bytes } = await readAt(path);
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let whole: string;
  try {
    whole = text.decode(bytes);
  } catch {
    throw refused(path, "is not UTF-8 text");
  }
  const reader = phrases.reader();
  reader.read(whole);
  reader.end();
  const found = [...reader.lines].toSorted((a, b) => a - b);
  const places: Place[] = [];
  for (const line of found) {
    const last = places.at(-1);
    if (last?.last === line - 1) places[places.length - 1] = { first: last.first, last: line };
    else places.push({ first: line, last: line });
  }
  return { path, bytes, lines: whole.split(/(?<=\n)/), places };
}

/** Throws `changed_meanwhile` if the note is not what was read; `invalid_input` if it cannot be written. */
export async function takeOut(note: ReadNote, places: readonly Place[]): Promise<void> {
  const { path, lines } = note;
  const kept = lines.filter((_, at) => !places.some(({ first, last }) => at + 1 >= first && at + 1 <= last));
  try {
    await replace(note, kept.join(""));
  } catch (error) {
    if (error instanceof HelmdeckError) throw error;
    throw refused(path, `cannot be written (${systemCodeOf(error)})`);
  }
}

async function replace({ path, bytes }: ReadNote, text: string): Promise<void> {
  const { folder, pathOf } = await openFolder(dirname(path));
  const draft = pathOf(`.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
  try {
    const { stats } = await readAt(path);
    const { mode, uid, gid } = stats;
    const file = await open(draft, "wx", 0o600);
    try {
      await file.chown(uid, gid);
      await file.chmod(mode & 0o7777);
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    if (!(await readAt(path)).bytes.equals(bytes))
      throw new HelmdeckError(
        "changed_meanwhile",
        `${path} was changed since it was read; nothing was taken out of it. Run traces again.`,
        { details: { path } },
      );
    await rename(draft, pathOf(basename(path)));
    await folder.sync();
  } finally {
    await rm(draft, { force: true }).catch(() => undefined);
    await folder.close();
  }
}

/** On Linux, the paths of its files lead into the opened folder, whatever takes its place. */
async function openFolder(path: string): Promise<{ folder: FileHandle; pathOf: (name: string) => string }> {
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  const opened = `/proc/self/fd/${folder.fd}`;
  const place = await readlink(opened).catch(() => undefined);
  if (place !== undefined && place !== path) {
    await folder.close();
    throw refused(path, "is no longer the folder that was read");
  }
  return { folder, pathOf: (name) => join(place === undefined ? path : opened, name) };
}

async function readAt(path: string): Promise<{ readonly bytes: Buffer; readonly stats: Stats }> {
  const file = await openInPlace(path).catch((error: unknown) =>
    Promise.reject(refused(path, `cannot be read (${systemCodeOf(error)})`)),
  );
  if (typeof file === "string") throw refused(path, `is ${file}`);
  try {
    const stats = await file.stat();
    if (stats.size > LARGEST_NOTE_BYTES) throw refused(path, "is larger than 4 MiB");
    if (stats.nlink > 1) throw refused(path, "has a second name (a hard link), which would keep the lines");
    return { bytes: await file.readFile(), stats };
  } finally {
    await file.close();
  }
}

function refused(path: string, why: string): HelmdeckError {
  return new HelmdeckError("invalid_input", `${path} ${why}; nothing was changed. Edit it by hand.`, {
    details: { path },
  });
}
