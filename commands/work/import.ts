/** `import`: imports files in one of the formats. Our own JSON Lines are imported at once; for other formats a preview comes first. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import {
  askOn,
  guessFormat,
  HelmdeckError,
  IMPORT_WANTS_YES,
  type ImportFile,
  type ImportFormat,
  type ImportRequest,
  type ImportResult,
  importFiles,
  importPreview,
  importReply,
  importText,
  type OpenMemory,
  wantsFormat,
  workspaceNotes,
} from "../../app/index.ts";
import { bufferFiles } from "../buffer-files.ts";
import type { CommandContext } from "../command-line.ts";
import { embedImported } from "../embed-afterwards.ts";
import { EXIT_DONE, EXIT_FAILED } from "../exit-codes.ts";
import { bytesOf, inputSource } from "../input.ts";
import { type Progress, showProgress } from "../progress-bar.ts";
import { present, voiceOf } from "../voice.ts";
import { refuseElsewhere, withMemory, withMemoryToWrite } from "../with-memory.ts";
import type { ImportOrder } from "./import-order.ts";
import { readerFor } from "./import-readers.ts";

export async function importCommand(context: CommandContext, order: ImportOrder): Promise<number> {
  await refuseElsewhere(context, "import FILE --caller SUBJECT");
  const given = await filesOf(context, order);
  const format = formatOf(order);
  const isAsked = format !== "jsonl" && !order.yes && !order.dryRun;
  if (isAsked) requirePerson(context, order);
  const { read, close } = await readerFor(context, format, order);
  try {
    const files = isAsked && format !== "helmdeck" ? await bufferFiles(given) : given;
    const { onConflict, allowSecrets, ttlSeconds } = order;
    const request = {
      ...{ subject: context.options.caller, format, read, files, onConflict, allowSecrets },
      ...(ttlSeconds !== undefined && { ttlSeconds }),
    };
    if (order.dryRun) return await dryRun(context, request);
    if (isAsked && !(await agrees(context, request))) return EXIT_FAILED;
    return await importNow(context, request);
  } finally {
    await close();
  }
}

type Asked = Omit<ImportRequest, "memory">;

async function importNow(context: CommandContext, request: Asked): Promise<number> {
  const { files } = request;
  const result = await withMemoryToWrite(
    context,
    (memory) => withProgress(context, files, (progress) => importFiles({ memory, ...request, ...progress })),
    async (memory, imported) => {
      if (context.options.json) await context.output.json(importReply(imported));
      else await tell(context, imported);
      for (const subject of imported.takers ?? [request.subject]) await embed(context, memory, subject);
    },
  );
  return exitCodeOf(result);
}

async function dryRun(context: CommandContext, request: Asked): Promise<number> {
  const result = await foresee(context, request);
  if (context.options.json) await context.output.json(importReply(result));
  else for (const line of importPreview(result, voiceOf(context))) await context.output.line(line);
  return exitCodeOf(result);
}

function requirePerson({ shell }: CommandContext, { files, keyFile }: ImportOrder): void {
  const isPersonThere = shell.stdin.isTTY === true && shell.stderr.isTTY === true;
  if (!isPersonThere || [...files, keyFile].includes("-"))
    throw new HelmdeckError("invalid_input", IMPORT_WANTS_YES);
}

async function agrees(context: CommandContext, request: Asked): Promise<boolean> {
  const { shell, output } = context;
  const foreseen = await foresee(context, request);
  for (const line of importPreview(foreseen, voiceOf(context))) await output.note(line);
  const { stored, replaced, refreshed, audit } = foreseen;
  if (stored + replaced + refreshed + audit === 0) {
    await output.note("Nothing was imported.");
    return false;
  }
  if (/^y(es)?$/i.test((await askOn(shell.stdin, shell.stderr, "Import? [y/N] ")).trim())) return true;
  await output.note("Nothing was imported.");
  return false;
}

function foresee(context: CommandContext, request: Asked): Promise<ImportResult> {
  return withMemory(context, (memory) =>
    withProgress(context, request.files, (progress) =>
      importFiles({ memory, ...request, ...progress, dryRun: true }),
    ),
  );
}

/** Shows a progress bar that counts the bytes read. */
async function withProgress<Answer>(
  { shell }: CommandContext,
  files: readonly ImportFile[],
  work: (counted: Pick<ImportRequest, "files" | "onProgress">) => Promise<Answer>,
): Promise<Answer> {
  const progress = await showProgress(shell, await sizeOf(files));
  try {
    return await work({ files: files.map((file) => counted(file, progress)), onProgress: progress.lines });
  } finally {
    progress.stop();
  }
}

function counted({ name, open }: ImportFile, progress: Progress): ImportFile {
  return {
    name,
    open: () => progress.counted(open()),
  };
}

/** Only for the progress bar; problems of a file are reported when it is read. */
async function sizeOf(files: readonly ImportFile[]): Promise<number | undefined> {
  if (files.some(({ name }) => name === STDIN)) return undefined;
  const sizes = files.map(({ name }) =>
    stat(name).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

const STDIN = "standard input";

function formatOf({ files, from }: ImportOrder): ImportFormat {
  return from ?? guessFormat(files);
}

async function filesOf({ shell }: CommandContext, order: ImportOrder): Promise<readonly ImportFile[]> {
  const paths: string[] = [];
  for (const path of order.files) paths.push(...(await notesIn(path, order)));
  return paths.map((path) => {
    const source = inputSource(shell, path);
    return { name: source.name, open: () => bytesOf(source) };
  });
}

/** The notes of a workspace folder; any other path unchanged. */
async function notesIn(path: string, { from }: ImportOrder): Promise<readonly string[]> {
  const isFolder = path !== "-" && (await stat(path).catch(() => undefined))?.isDirectory() === true;
  if (!isFolder || from === "jsonl") return [path];
  if (from === undefined) throw wantsFormat(path);
  const names = from === "openclaw" ? workspaceNotes(await namesIn(path)) : [];
  if (names.length > 0) return names.map((name) => join(path, name));
  throw new HelmdeckError(
    "invalid_input",
    from === "openclaw"
      ? `${path} has none of OpenClaw's notes (MEMORY.md, USER.md, memory/YYYY-MM-DD.md). Give the workspace folder.`
      : `${path} is a folder; give its files.`,
  );
}

async function namesIn(folder: string): Promise<readonly string[]> {
  const daily = await readdir(join(folder, "memory")).catch(() => []);
  return [...(await readdir(folder)), ...daily.map((name) => `memory/${name}`)];
}

function exitCodeOf({ refusedCount }: ImportResult): number {
  return refusedCount === 0 ? EXIT_DONE : EXIT_FAILED;
}

/** Refusals first, so that the summary follows a long list. */
async function tell(context: CommandContext, result: ImportResult): Promise<void> {
  const { answer, notes } = importText(result, voiceOf(context));
  await present(context, { answer: [], notes });
  await present(context, { answer, notes: [] });
}

/** Does not wait for a large import; the note says how to embed the rest. */
async function embed({ output }: CommandContext, memory: OpenMemory, subject: string): Promise<void> {
  const report = await embedImported(memory, subject);
  if (report === undefined || report.embedded + report.refused >= report.total) return;
  const { embedded, total } = report;
  await output.note(
    `Note: ${embedded} of ${total} entries are embedded so far. helmdeck-memory embed does the rest now; a running gateway or server does it in the background.`,
  );
}
