/** Declares `export`. */

import { randomBytes } from "node:crypto";
import { type FileHandle, link, lstat, open, rename, unlink } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { type Command, Option } from "commander";
import type { ExportProblem } from "../app/memory.ts";
import { counted } from "../app/presenters/words.ts";
import type { ExportOptions } from "../app/transfer/export-lines.ts";
import type { NotInMarkdown } from "../app/transfer/export-markdown.ts";
import { EXPORT_FORMATS, type ExportFormat } from "../app/transfer/formats/names.ts";
import { removeOnSignal } from "../app/transfer/remove-on-signal.ts";
import { defined } from "../engine/defined.ts";
import { HelmdeckError, systemCodeOf } from "../engine/errors.ts";
import { harmlessLine } from "../engine/facts/hostile-text.ts";
import { syncFolder } from "../engine/private-file.ts";
import type { CommandContext, Runs } from "./command-line.ts";
import { EXIT_DONE, EXIT_FAILED } from "./exit-codes.ts";
import { nonEmpty, withExamples } from "./option-parsers.ts";
import { withCount } from "./progress-bar.ts";
import { refuseRemote, withStore } from "./with-memory.ts";

export function declareExport(program: Command, runs: Runs): void {
  const exporting = program
    .command("export")
    .summary("Write facts and records of runs as JSON Lines, or facts as Markdown.")
    .description(
      "Write every fact and record of a run as JSON Lines for import, with values in plain text. With --to markdown, write every fact as Markdown, to read or for import --from markdown.",
    )
    .addOption(
      new Option("--to <format>", "jsonl, or markdown (only facts, without their histories).")
        .choices(EXPORT_FORMATS)
        .default("jsonl"),
    )
    .option(
      "--output <file>",
      "Write a new file that only you can read (mode 0600); it must not exist yet.",
      nonEmpty,
    )
    .option("--with-history", "Include former values, which import restores.")
    .action((_options: unknown, command: Command) => {
      const request = command.opts<ExportRequest>();
      if (request.withHistory && request.to === "markdown") command.error("--with-history needs --to jsonl.");
      return runs(command, async (context) => exportCommand(context, request), "memory_exported");
    });
  withExamples(exporting, [
    "helmdeck-memory export --output memory-2026-11.jsonl",
    "helmdeck-memory export --to markdown --output memory.md",
    "helmdeck-memory export --caller work | gpg --encrypt --recipient me > memory.jsonl.gpg",
  ]);
}

/** Lines are written in batches of about this size. */
const CHUNK_CHARACTERS = 64 * 1024;

interface Exported {
  readonly lines: number;
  readonly problems: readonly ExportProblem[];
  /** For Markdown: what only JSON Lines would include. */
  readonly leftOut?: NotInMarkdown;
}

interface ExportRequest {
  /** A new file; default: standard output. */
  readonly output?: string;
  /** Include each fact's former values. */
  readonly withHistory?: boolean;
  readonly to: ExportFormat;
}

/** To run where the memory is kept. */
const THERE = "export --caller SUBJECT";

/** `export`: every fact and audit row as JSON Lines, to standard output or to a new private file. */
async function exportCommand(
  context: CommandContext,
  { output: path, ...how }: ExportRequest,
): Promise<number> {
  context.found?.({ subject: context.options.caller, ...defined({ file: path && resolve(path) }) });
  await refuseRemote(context, THERE);
  const write = (append: Append) => exportTo(context, append, how);
  const exported = path === undefined ? await toStdout(context, write) : await toFile(context, path, write);
  for (const note of leftOutNotes(exported.leftOut)) await context.output.note(note);
  for (const { key, reason } of exported.problems) {
    await context.output.note(`${harmlessLine(key)} ${reason}; it was not exported.`);
  }
  return exported.problems.length === 0 ? EXIT_DONE : EXIT_FAILED;
}

type Write = (append: Append) => Promise<Exported>;

async function toStdout(context: CommandContext, write: Write): Promise<Exported> {
  const exported = await write((text) => context.output.text(text));
  await context.output.note(`${lineCount(exported)}, values in plain text.`);
  return exported;
}

async function toFile(context: CommandContext, path: string, write: Write): Promise<Exported> {
  const { output, options } = context;
  let exported: Exported = { lines: 0, problems: [] };
  await writePrivateFile(path, async (append) => {
    exported = await write(append);
  });
  await noteExport(context, path);
  const { leftOut, ...told } = exported;
  if (options.json) await output.json({ output: path, ...told, ...(leftOut && { left_out: leftOut }) });
  else await output.line(`Wrote ${lineCount(exported)} to ${harmlessLine(path)}`);
  await output.note(
    "The file holds every value in plain text, readable only for you (mode 0600). Delete it when you no longer need it.",
  );
  return exported;
}

/** So that a person who forgets is told of it. */
async function noteExport(context: CommandContext, path: string): Promise<void> {
  const { keyPath } = await context.line.memoryOptions(context);
  const { noteCopy } = await import("../app/keys/store-notes.ts");
  const at = new Date(context.shell.now()).toISOString();
  await noteCopy(keyPath, { kind: "export", path: resolve(path), at });
}

function exportTo(
  context: CommandContext,
  append: Append,
  { withHistory = false, to }: Omit<ExportRequest, "output">,
): Promise<Exported> {
  return withStore(context, THERE, async (memory) => {
    const { countNotInMarkdown, exportMarkdown } = await import("../app/transfer/export-markdown.ts");
    const exported = await withCount(context.shell, async (progress) => {
      const problems: ExportProblem[] = [];
      const onProblem = (problem: ExportProblem) => void problems.push(problem);
      let lines = 0;
      let chunk = "";
      const subject = context.options.caller;
      const asked = { memory, subject, withHistory, onProblem, onProgress: progress.update };
      for await (const piece of to === "markdown" ? exportMarkdown(asked) : linesOf(asked)) {
        lines += piece.split("\n").length - 1;
        chunk += piece;
        if (chunk.length < CHUNK_CHARACTERS) continue;
        await append(chunk);
        chunk = "";
      }
      if (chunk !== "") await append(chunk);
      return { lines, problems };
    });
    if (to === "jsonl") return exported;
    return { ...exported, leftOut: await countNotInMarkdown({ memory, subject: context.options.caller }) };
  });
}

async function* linesOf(options: ExportOptions): AsyncGenerator<string> {
  const { exportLines } = await import("../app/transfer/export-lines.ts");
  for await (const line of exportLines(options)) yield `${line}\n`;
}

function leftOutNotes({ runs, former }: NotInMarkdown = { runs: 0, former: 0 }): readonly string[] {
  const left = [
    ...(runs > 0 ? [counted(runs, "record of a run", "records of runs")] : []),
    ...(former > 0 ? [counted(former, "former value")] : []),
  ];
  return left.length === 0
    ? []
    : [`Not exported: ${left.join(", ")}. --to jsonl --with-history exports everything.`];
}

function lineCount({ lines }: Exported): string {
  return counted(lines, "line");
}

export type Append = (text: string) => Promise<void>;

/**
 * Calls `write` to fill the new file at `path`. Throws `invalid_input` if the path exists or cannot be written. `replaces`: takes
 * the place and the owner of a file that exists.
 *
 * An export has every value in plain text, and no other user of the machine may read it, not even while it is written. So it
 * is created with mode 0600 under a temporary name. Both names are created exclusively, so that nobody can plant a link. An
 * interrupted export leaves no file.
 */
export async function writePrivateFile(
  path: string,
  write: (append: Append) => Promise<void>,
  { replaces = false }: { readonly replaces?: boolean } = {},
): Promise<void> {
  const former = await lstat(path).catch(() => undefined);
  if (former !== undefined && !replaces) throw notWritten(path, TAKEN);
  if (former?.isFile() === false) throw notWritten(path, NO_FILE);
  const partPath = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.part`);
  const stopWatching = removeOnSignal(partPath);
  try {
    const refuse = (error: unknown) => Promise.reject(unwritable(path, error));
    const file = await open(partPath, "wx", 0o600).catch(refuse);
    await fill(file, path, async (append) => {
      if (former !== undefined) await file.chown(former.uid, former.gid).catch(refuse);
      await write(append);
    });
    await (replaces ? rename(partPath, path).catch(refuse) : publish(partPath, path));
    await syncFolder(dirname(path)); // makes the file's name durable
  } finally {
    stopWatching();
    await unlink(partPath).catch(() => {});
  }
}

async function fill(file: FileHandle, path: string, write: (append: Append) => Promise<void>): Promise<void> {
  try {
    await write((text) =>
      file.appendFile(text).catch((error: unknown) => Promise.reject(unwritable(path, error))),
    );
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A hard link fails if the name is taken; a rename would replace the file. */
async function publish(partPath: string, path: string): Promise<void> {
  try {
    await link(partPath, path);
  } catch (error) {
    const isLackOfLinks = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"].includes(
      systemCodeOf(error),
    );
    if (!isLackOfLinks) throw unwritable(path, error);
    await publishWithoutLinks(partPath, path);
  }
}

/** For file systems without hard links (FAT, some network ones): creates the name exclusively, then renames over it. */
async function publishWithoutLinks(partPath: string, path: string): Promise<void> {
  try {
    await (await open(path, "wx", 0o600)).close();
    await rename(partPath, path);
  } catch (error) {
    throw unwritable(path, error);
  }
}

function notWritten(path: string, why: string): HelmdeckError {
  return new HelmdeckError("invalid_input", `${path} ${why}`, { details: { path } });
}

const TAKEN = "already exists and was not changed. Choose another name for --output, or delete it first.";
const NO_FILE = "is a folder, a link or a device, and was not changed. Name the file itself with --output.";

function unwritable(path: string, error: unknown): HelmdeckError {
  const systemCode = systemCodeOf(error);
  if (systemCode === "EEXIST") return notWritten(path, TAKEN);
  const why = WRITE_TROUBLE[systemCode] ?? `the system says ${systemCode}`;
  return new HelmdeckError(
    "invalid_input",
    `Cannot write ${path}: ${why}. Choose a writable place for --output.`,
    {
      details: { path, systemCode },
      cause: error,
    },
  );
}

const WRITE_TROUBLE: Readonly<Record<string, string>> = {
  ENOENT: "its folder does not exist",
  ENOTDIR: "a part of the path is not a folder",
  EACCES: "permission was denied",
  EPERM: "permission was denied",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
};
