/** `import`: imports files in one of the formats. Our own JSON Lines are imported at once; for other formats a preview comes first. */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { CommandMemory } from "../app/compose.ts";
import { lineOf } from "../app/presenters/forget-texts.ts";
import type { Presented, Voice } from "../app/presenters/presented.ts";
import { expiryFrom, firstWords, localMinute } from "../app/presenters/words.ts";
import type { RemoteMemory } from "../app/remote/remote-memory.ts";
import type { ImportFile } from "../app/transfer/formats/format.ts";
import { guessFormat, wantsFormat } from "../app/transfer/formats/guess-format.ts";
import { type ImportFormat, KNOWN_RULES } from "../app/transfer/formats/names.ts";
import type { Foreseen, ImportResult, KnownPair, RefusedLine } from "../app/transfer/import-counts.ts";
import { type ImportRequest, importFiles } from "../app/transfer/import-files.ts";
import { defined } from "../engine/defined.ts";
import { HelmdeckError } from "../engine/errors.ts";
import { harmlessLine } from "../engine/facts/hostile-text.ts";
import { rfc3339 } from "../engine/rfc3339.ts";
import { type CommandContext, present, voiceOf } from "./command-line.ts";
import { EXIT_DONE, EXIT_FAILED } from "./exit-codes.ts";
import { bufferFiles, type ImportOrder, readerFor, refuseMisplaced } from "./import-readers.ts";
import { agreesAt, bytesOf, chosenAt, inputSource, isPersonAt } from "./input.ts";
import { showProgress } from "./progress-bar.ts";
import { embedImported, refuseRemote, withStore, withStoreToWrite } from "./with-memory.ts";
import { openWorkspace, type Workspace } from "./workspace.ts";

/** Of each kind in a preview. */
const MOST_SHOWN = 10;
/** A refused key may be of any length. */
const SHOWN_KEY_CHARACTERS = 120;
const VERBS = { stored: "new", replaced: "replaces", kept: "stays as it is here" } as const;

const IMPORT_WANTS_YES =
  "import asks before it writes; without a terminal it needs --yes, or --dry-run for a preview.";

/** To run where the memory is kept. */
const THERE = "import FILE --caller SUBJECT";

export async function importCommand(context: CommandContext, order: ImportOrder): Promise<number> {
  const format = order.from ?? guessFormat(order.files);
  refuseMisplaced(format, order);
  if (!isForBatches(format, order)) await refuseRemote(context, THERE);
  const { files: given, leftOut } = await filesOf(context, order);
  const remote = await context.line.remote?.();
  if (remote !== undefined) return importThere(context, remote, { ...order, files: given });
  const isAsked = format !== "jsonl" && !order.yes && !order.dryRun;
  if (isAsked) requirePerson(context, order);
  const { read, close } = await readerFor(context, format, order);
  try {
    const files = isAsked && format !== "helmdeck" ? await bufferFiles(given) : given;
    const { onConflict, onKnown, allowSecrets, ttlSeconds, category, showAll } = order;
    const request = {
      ...{ subject: context.options.caller, format, read, files, leftOut, onConflict, allowSecrets, showAll },
      ...defined({ ttlSeconds, category, onKnown }),
    };
    if (order.dryRun) return await dryRun(context, request);
    if (!isAsked) return await importNow(context, request);
    const agreed = await agreedAfterPreview(context, request);
    return agreed === undefined ? EXIT_FAILED : await importNow(context, agreed);
  } finally {
    await close();
  }
}

/** What a server that keeps the memory can do with its batches of facts. */
function isForBatches(format: ImportFormat, { dryRun, allowSecrets, onKnown }: ImportOrder): boolean {
  return format === "jsonl" && !dryRun && !allowSecrets && onKnown === undefined;
}

async function importThere(
  context: CommandContext,
  memory: RemoteMemory,
  {
    files,
    onConflict,
    ttlSeconds,
  }: Pick<ImportOrder, "onConflict" | "ttlSeconds"> & Pick<Workspace, "files">,
): Promise<number> {
  const { options, shell } = context;
  const { importByBatches } = await import("../app/transfer/import-by-batches.ts");
  const writer = { surface: "cli", agent: options.caller };
  const request = {
    memory,
    subject: options.caller,
    writer,
    now: shell.now(),
    onConflict,
    ...defined({ ttlSeconds }),
  };
  try {
    if (memory.refusal.code === "method_not_allowed") throw memory.refusal; // a running helmdeck
    const result = await withProgress(context, files, (progress) =>
      importByBatches({ ...request, ...progress }),
    );
    if (options.json) await context.output.json(importReply(result));
    else await tell(context, result);
    return exitCodeOf(result);
  } finally {
    await memory.close();
  }
}

type Asked = Omit<ImportRequest, "memory">;

async function importNow(context: CommandContext, request: Asked): Promise<number> {
  const { files } = request;
  const result = await withStoreToWrite(
    context,
    THERE,
    (memory) => withProgress(context, files, (progress) => importFiles({ memory, ...request, ...progress })),
    async (memory, imported) => {
      if (context.options.json) await context.output.json(importReply(imported));
      else await tell(context, imported);
      await noteSources(context, request);
      for (const subject of imported.takers ?? [request.subject]) await embed(context, memory, subject);
    },
  );
  return exitCodeOf(result);
}

/** So that a person who forgets is told of them. The values in helmdeck's database are encrypted, as in a backup. */
async function noteSources(context: CommandContext, { files, format }: Asked): Promise<void> {
  const { keyPath } = await context.line.memoryOptions(context);
  const { noteCopy } = await import("../app/keys/store-notes.ts");
  const at = new Date(context.shell.now()).toISOString();
  const kind = format === "helmdeck" ? "backup" : "import";
  for (const { name } of files)
    if (name !== STDIN) await noteCopy(keyPath, { kind, path: resolve(name), at });
}

async function dryRun(context: CommandContext, request: Asked): Promise<number> {
  const result = await foresee(context, request);
  if (context.options.json) await context.output.json(importReply(result));
  else {
    for (const line of importPreview(result, request, voiceOf(context))) await context.output.line(line);
    if (request.onKnown === undefined && hasChoice(result)) await context.output.line(KNOWN_CHOICES);
  }
  return exitCodeOf(result);
}

function requirePerson({ shell }: CommandContext, { files, keyFile }: ImportOrder): void {
  if (!isPersonAt(shell) || [...files, keyFile].includes("-"))
    throw new HelmdeckError("invalid_input", IMPORT_WANTS_YES);
}

const KNOWN_CHOICES =
  "Both will stay. --on-known skip leaves out what is known or contradicts; --on-known supersede makes the older fact the history of the newer one.";

const KNOWN_QUESTION = "Import, and keep both, skip what is known or contradicts, or supersede the older?";

function hasChoice({ foreseen }: ImportResult): boolean {
  return foreseen?.known.some(({ known }) => known.relation !== "near") === true;
}

/** The import that the preview showed; undefined when the person did not agree, or there is nothing to import. */
async function agreedAfterPreview(context: CommandContext, request: Asked): Promise<Asked | undefined> {
  const { shell, output } = context;
  const foreseen = await foresee(context, request);
  for (const line of importPreview(foreseen, request, voiceOf(context))) await output.note(line);
  const { stored, replaced, refreshed, audit } = foreseen;
  if (stored + replaced + refreshed + audit === 0) {
    await output.note("Nothing was imported.");
    return undefined;
  }
  const shown = foreseen.foreseen?.shown ?? new Map();
  if (request.onKnown === undefined && hasChoice(foreseen)) {
    const onKnown = await chosenAt(shell, KNOWN_QUESTION, KNOWN_RULES);
    if (onKnown !== undefined) return { ...request, shown, onKnown };
  } else if (await agreesAt(shell, "Import?")) return { ...request, shown };
  await output.note("Nothing was imported.");
  return undefined;
}

function foresee(context: CommandContext, request: Asked): Promise<ImportResult> {
  return withStore(context, THERE, (memory) =>
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
    const counted = files.map(({ name, open }) => ({ name, open: () => progress.counted(open()) }));
    return await work({ files: counted, onProgress: progress.lines });
  } finally {
    progress.stop();
  }
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

async function filesOf({ shell }: CommandContext, order: ImportOrder): Promise<Workspace> {
  const files: ImportFile[] = [];
  const leftOut: string[] = [];
  for (const path of order.files) {
    const workspace = await workspaceAt(path, order);
    const source = inputSource(shell, path);
    files.push(...(workspace?.files ?? [{ name: source.name, open: () => bytesOf(source) }]));
    leftOut.push(...(workspace?.leftOut ?? []));
  }
  return { files, leftOut };
}

/** Undefined for a path that is no folder. */
async function workspaceAt(path: string, { from }: ImportOrder): Promise<Workspace | undefined> {
  const isFolder = path !== "-" && (await stat(path).catch(() => undefined))?.isDirectory() === true;
  if (!isFolder || from === "jsonl") return undefined;
  if (from === undefined) throw wantsFormat(path);
  const workspace = from === "openclaw" ? await openWorkspace(path) : undefined;
  if (workspace !== undefined && workspace.files.length + workspace.leftOut.length > 0) return workspace;
  throw new HelmdeckError(
    "invalid_input",
    from === "openclaw"
      ? `${path} has none of OpenClaw's notes (MEMORY.md, USER.md, memory/YYYY-MM-DD.md). Give the workspace folder.`
      : `${path} is a folder; give its files.`,
  );
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
async function embed({ output }: CommandContext, memory: CommandMemory, subject: string): Promise<void> {
  const report = await embedImported(memory, subject);
  if (report === undefined || report.embedded + report.refused >= report.total) return;
  const { embedded, total } = report;
  await output.note(
    `Note: ${embedded} of ${total} entries are embedded so far. helmdeck-memory embed does the rest now; a running gateway or server does it in the background.`,
  );
}

/** The preview. */
function importPreview(
  result: ImportResult,
  { showAll = false }: Pick<Asked, "showAll">,
  { caller, now }: Voice,
): readonly string[] {
  const { stored, replaced, refreshed, superseded, audit, kept, retired, refusedCount, refused } = result;
  const { first = [], known = [], endsAt, gone = 0 } = result.foreseen ?? {};
  const { importId, leftOut, owners = [] } = result;
  const more = stored + replaced + kept - first.length;
  const most = showAll ? Number.POSITIVE_INFINITY : MOST_SHOWN;
  const shown = refused.slice(0, most);
  const places = leftOutPlaces(result);
  return [
    `This would import ${stored + replaced + refreshed + audit} for ${takersText(result, caller)}: ${countsText(result)}.`,
    ...owners.map(({ from, to, entries }) => `  ${harmlessLine(from)} → ${harmlessLine(to)}: ${entries}`),
    ...(owners.length > 0 ? ["To give a caller's memory to another agent, add --map FROM=TO."] : []),
    ...first.map(
      ({ key, value, outcome }) => `  ${harmlessLine(key)}: ${firstWords(value)} (${VERBS[outcome]})`,
    ),
    ...(first.length > 0 && more > 0 ? [`  … and ${more} more.`] : []),
    ...knownTexts(known, most),
    ...(kept > 0 ? [`Kept, because memory has a newer value: ${kept}.`] : []),
    ...(superseded > 0 ? [`Would become history of imported facts: ${superseded}.`] : []),
    ...(retired > 0 ? [`Left out, because other facts superseded them: ${retired}.`] : []),
    ...(leftOut !== undefined ? [`Left out: ${leftOutText(leftOut)}.`] : []),
    ...places.slice(0, most).map((place) => `  ${place}`),
    ...(places.length > most ? [`  … and ${places.length - most} more.`] : []),
    ...(refusedCount > 0 ? [`Refused: ${refusedCount}.`] : []),
    ...shown.map((line) => `  ${refusalText(line)}`),
    ...(refusedCount > shown.length ? [`  … and ${refusedCount - shown.length} more.`] : []),
    ...(gone > 0 ? [`No longer in these files; kept until you forget them: ${gone}.`] : []),
    ...(endsAt === undefined
      ? []
      : [`Imported facts expire ${localMinute(endsAt)} (${expiryFrom(now, endsAt)}).`]),
    ...(importId === undefined ? [] : ["One command will undo the whole import; it is shown afterwards."]),
  ];
}

const RELATIONS = {
  same: "Memory knows under another key",
  contradict: "Contradicting what memory has",
  near: "Near to what memory has, and kept beside it",
} as const;

function knownTexts(pairs: readonly KnownPair[], most: number): readonly string[] {
  return (["same", "contradict", "near"] as const).flatMap((relation) => {
    const those = pairs.filter(({ known }) => known.relation === relation);
    if (those.length === 0) return [];
    const more = those.length - most;
    return [
      `${RELATIONS[relation]}: ${new Set(those.map(({ fact }) => fact.key)).size}.`,
      ...those
        .slice(0, most)
        .flatMap(({ fact, known }) => [
          `  ${lineOf(fact)}`,
          `    ${lineOf(known)} (${localMinute(known.updatedAt)})`,
        ]),
      ...(more > 0 ? [`  … and ${more} more.`] : []),
    ];
  });
}

function importText(result: ImportResult, voice: Voice): Presented {
  const { stored, replaced, refreshed, kept, retired, audit, refused, refusedCount, leftOut } = result;
  const { superseded } = result;
  const imported = stored + replaced + refreshed + audit;
  const isEmpty = imported + kept + retired + refusedCount === 0 && leftOut === undefined;
  const over = superseded === 0 ? "" : ` Superseded: ${superseded}.`;
  const stays = kept === 0 ? "" : ` Kept as they were: ${kept}.`;
  const left = leftOut === undefined ? "" : ` Left out: ${leftOutText(leftOut)}.`;
  return {
    answer: [
      `Imported ${imported} for ${takersText(result, voice.caller)}: ${countsText(result)}.${over}${stays}${left} Refused: ${refusedCount}.`,
    ],
    notes: [
      ...leftOutPlaces(result),
      ...refused.map(refusalText),
      ...(refusedCount > refused.length ? [`… and ${refusedCount - refused.length} more.`] : []),
      ...(retired > 0
        ? [`Left out ${retired} that other facts superseded since. Undo those, or store the facts again.`]
        : []),
      ...(isEmpty ? ["There was nothing to import."] : []),
      ...takeBackTexts(result, voice),
    ],
  };
}

/** A dry run includes the keys of the first facts, and of known ones. Values are only shown to people on a terminal. */
function importReply({
  refusedCount,
  refused,
  leftOut,
  leftOutPlaces: left,
  importId,
  takers,
  owners,
  foreseen,
  ...counts
}: ImportResult) {
  return {
    ...counts,
    refused_count: refusedCount,
    refused,
    ...defined({ left_out: leftOut, left_out_lines: left, owners }),
    ...(foreseen === undefined ? defined({ import: importId, takers }) : foreseenReply(foreseen)),
  };
}

function foreseenReply({ first, known, gone, endsAt }: Foreseen) {
  return {
    dry_run: true,
    first: first.map(({ key, outcome }) => ({ key, outcome })),
    known: known.map(({ fact, known: { relation, key } }) => ({ key: fact.key, relation, there: key })),
    gone,
    ...(endsAt !== undefined && { ends_at: rfc3339(endsAt) }),
  };
}

/** Everyone who received entries, if the source names owners. */
function takersText({ owners }: ImportResult, caller: string): string {
  return [...new Set(owners?.map(({ to }) => to) ?? [caller])].map(harmlessLine).join(", ");
}

function takeBackTexts({ importId, takers }: ImportResult, { command }: Voice): readonly string[] {
  if (importId === undefined) return [];
  return [`To undo this: ${command} forget import:${importId}${takers === undefined ? "" : " --everyone"}`];
}

function countsText({ stored, replaced, refreshed, audit }: ImportResult): string {
  const counts = [
    ...(stored === 0 ? [] : [`${stored} new`]),
    ...(replaced === 0 ? [] : [`${replaced} replaced`]),
    ...(refreshed === 0 ? [] : [`${refreshed} renewed`]),
    ...(audit === 0 ? [] : [`${audit} ${audit === 1 ? "record" : "records"} of runs`]),
  ];
  return counts.join(", ") || "nothing new";
}

function leftOutText(leftOut: NonNullable<ImportResult["leftOut"]>): string {
  return Object.entries(leftOut)
    .map(([what, count]) => harmlessLine(count === 1 ? what : `${what} (${count} times)`))
    .join(", ");
}

/** For each file and reason, the lines; those that follow one another as one range. */
function leftOutPlaces({ leftOutPlaces = [] }: ImportResult): readonly string[] {
  const ranges = new Map<string, { line: number; to: number }[]>();
  for (const { file, line, to = line, what } of leftOutPlaces) {
    const title = `${harmlessLine(file)}, left out: ${harmlessLine(what)}`;
    const those = ranges.get(title) ?? [];
    const last = those.at(-1);
    if (last !== undefined && line >= last.line && line <= last.to + 1) last.to = Math.max(last.to, to);
    else those.push({ line, to });
    ranges.set(title, those);
  }
  return [...ranges].map(([title, those]) => `${title} (line ${those.map(linesText).join(", ")})`);
}

function linesText({ line, to = line }: Pick<RefusedLine, "line" | "to">): string {
  return to === line ? `${line}` : `${line}-${to}`;
}

function refusalText({ file, line, to, key, reason }: RefusedLine): string {
  const shown = key?.slice(0, SHOWN_KEY_CHARACTERS);
  const place = shown === undefined ? `line ${linesText({ line, to })}` : `"${harmlessLine(shown)}"`;
  const where = file === undefined ? place : `${harmlessLine(file)}, ${place}`;
  return `${where}: ${harmlessLine(reason)}`;
}
