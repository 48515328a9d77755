/**
 * `swe.solve`: runs the operator's coding command on a repository and returns the changes as a patch.
 *
 * Threat: a caller without a token; a repository whose content misleads the command; the misled command itself. Defence: the
 * pack runs only for authenticated callers; the command comes from the operator's configuration and runs without a shell and
 * with only those variables that the operator named; its files are read as data, within limits. It is not a sandbox: the
 * command can do everything this user can, so run it in a sandbox if repositories are not trusted.
 *
 * Notes about a repository are kept between runs: newest runs first, within a fixed size. They belong to the caller and outlive
 * the session, so that the next run can recall them. They reach the coding command only through its standard input: not through arguments, which other users can see, and not through a file.
 */

import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { mkdtemp, open } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { AUDIT_LIMITS } from "../../engine/audit/check-audit-row.ts";
import { defined } from "../../engine/defined.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { harmlessBlock } from "../../engine/facts/hostile-text.ts";
import { kindOfSecret } from "../../engine/facts/secrets.ts";
import type { UnixMs } from "../../engine/store/memory-store.ts";
import { definePack, PackFailure } from "../engine/define-pack.ts";
import type { Pack, PackContext, PackMemory, Session } from "../engine/pack-contract.ts";
import {
  cloneRepository,
  collectChanges,
  isRefName,
  isRepositoryAddress,
  type RepositoryOptions,
} from "./solve-repository.ts";

export interface SolveOptions extends RepositoryOptions {
  /** Program and arguments. Without it, the pack's error says what to configure. */
  readonly command?: readonly string[];
  /** Environment variables for the command, such as its model's key. git gets none of them. */
  readonly env?: Readonly<Record<string, string>>;
  /** Deadline of a run; default 30 minutes. */
  readonly deadlineMs?: number;
}

const DEADLINE_MS = 1_800_000;
const SUMMARY_CHARACTERS = 4_000;
const LESSON_BYTES = 8_192;
const FINDINGS_BYTES = 65_536;
/** Limit for reading a patch into memory; the artifact store has its own limit. */
const PATCH_BYTES = 64 * 1_024 * 1_024;

const findingSchema = z.object({
  code: z.string().min(1).max(128),
  severity: z.string().max(32),
  file: z.string().max(1_024).optional(),
});

const inputSchema = z.strictObject({
  repo_url: z
    .string()
    .refine(isRepositoryAddress, "must be https://<host>/<path>, without a user, a query or a fragment")
    .meta({ description: "The repository's https address, such as https://github.com/<owner>/<repo>.git." }),
  ref: z
    .string()
    .refine(isRefName, "must be the plain name of a branch or tag")
    .optional()
    .meta({ description: "Branch or tag; default: the repository's default branch." }),
  task: z.string().trim().min(1).max(16_384).meta({
    description:
      "The task, as you would describe it to a colleague. No secrets: the command receives this text.",
  }),
});

const outputSchema = z.object({
  repo_url: z.string(),
  commit: z.string().meta({ description: "The commit that the command worked on." }),
  files_changed: z.int().min(0),
  patch: z
    .string()
    .optional()
    .meta({ description: "Id of the artifact with the changes, if there are any." }),
  summary: z.string().meta({ description: "The end of the command's output." }),
  findings: z.array(findingSchema),
  notes_recalled: z.boolean().meta({ description: "There were notes from earlier runs on this repository." }),
});

type SolveInput = z.infer<typeof inputSchema>;
type SolveOutput = z.infer<typeof outputSchema>;
type Finding = z.infer<typeof findingSchema>;

export function solvePack(options: SolveOptions): Pack<SolveInput, SolveOutput> {
  return definePack({
    name: "swe.solve",
    title: "Work on a repository",
    version: "1.0.0",
    description:
      "Run this server's coding command on a task in a fresh clone of a git repository, and return its changes as a" +
      " patch. Nothing is pushed. The command gets the notes of earlier runs on the repository.",
    input: inputSchema,
    output: outputSchema,
    session: true,
    startsProcess: true,
    credentials: true,
    memory: { category: NOTES_CATEGORY, ttlSeconds: NOTES_TTL_SECONDS },
    effects: { readOnly: false, destructive: false, idempotent: false, openWorld: true },
    deadlineMs: options.deadlineMs ?? DEADLINE_MS,
    run: (ec, input) => solve(ec, input, options),
  });
}

async function solve(ec: PackContext, input: SolveInput, options: SolveOptions): Promise<SolveOutput> {
  const command = requireCommand(options);
  const { session } = ec;
  if (session === undefined)
    throw new HelmdeckError("session_unavailable", "swe.solve needs a session, and this engine has none.");
  const work = await mkdtemp(join(session.folder, "run-"));
  ec.progress(0.05, "fetching the repository");
  const repository = await cloneRepository(session, input.repo_url, input.ref, options, work);

  const notes = await recallNotes(ec.callerMemory, input.repo_url);
  ec.progress(0.2, "working");
  const left = await runCommand(
    session,
    command,
    repository.folder,
    work,
    promptOf(input.task, notes),
    options,
  );

  ec.progress(0.9, "collecting the changes");
  const changes = await collectChanges(session, repository, options, work);
  const patch = changes.files === 0 ? undefined : await putPatch(ec, changes.patchPath);
  await rememberRun(ec.callerMemory, input.repo_url, {
    endedAt: ec.now(),
    task: input.task,
    filesChanged: changes.files,
    lesson: left.lesson,
  });
  return {
    repo_url: input.repo_url,
    commit: repository.commit,
    files_changed: changes.files,
    ...(patch && { patch }),
    summary: left.summary,
    findings: left.findings,
    notes_recalled: notes !== "",
  };
}

interface LeftBehind {
  readonly summary: string;
  readonly lesson: string;
  readonly findings: Finding[];
}

async function runCommand(
  session: Session,
  [program, ...args]: readonly [string, ...string[]],
  cwd: string,
  work: string,
  prompt: string,
  options: SolveOptions,
): Promise<LeftBehind> {
  const paths = { lesson: join(work, "notes.md"), findings: join(work, "findings.json") };
  const { exitCode, signal, stdout } = await session.run(program, args, {
    cwd,
    env: { ...options.env, HELMDECK_NOTES_OUT: paths.lesson, HELMDECK_FINDINGS_OUT: paths.findings },
    input: prompt,
    // The run's own deadline applies.
    deadlineMs: options.deadlineMs ?? DEADLINE_MS,
  });
  const findings = findingsOf(await readStart(paths.findings, FINDINGS_BYTES));
  if (exitCode !== 0) {
    // The message leaves out the command's output, which can contain anything.
    const how =
      exitCode === undefined ? `was ended by ${signal ?? "a signal"}` : `ended with exit code ${exitCode}`;
    const details = defined({ exitCode });
    throw new PackFailure(`The coding command ${how}.`, { findings }, { details });
  }
  return {
    summary: harmlessBlock(stdout.trim().slice(-SUMMARY_CHARACTERS)),
    lesson: (await readStart(paths.lesson, LESSON_BYTES))?.toString().trim() ?? "",
    findings,
  };
}

function promptOf(task: string, notes: string): string {
  return [
    `# Task\n\n${task}`,
    `# Notes from earlier runs on this repository\n\n${notes || "None."}`,
    "# When done\n\nWhat should be known the next time goes into the file that HELMDECK_NOTES_OUT names, in a few lines." +
      " Findings, if any, go into the file that HELMDECK_FINDINGS_OUT names, as a JSON list of {code, severity, file}.\n",
  ].join("\n\n");
}

/** An unreadable list becomes a finding itself: it must not look like an empty list, nor discard the work. */
function findingsOf(bytes: Buffer | undefined): Finding[] {
  if (bytes === undefined) return [];
  try {
    return z.array(findingSchema).parse(JSON.parse(bytes.toString())).slice(0, AUDIT_LIMITS.findings);
  } catch {
    return [{ code: "findings_unreadable", severity: "warning" }];
  }
}

async function putPatch(ec: PackContext, path: string): Promise<string> {
  const content = (await readStart(path, PATCH_BYTES + 1)) ?? Buffer.alloc(0);
  if (content.byteLength > PATCH_BYTES) {
    throw new HelmdeckError("artifact_refused", `The changes are larger than ${PATCH_BYTES} bytes.`);
  }
  const { id } = await ec.artifacts.put({ name: "changes.patch", mediaType: "text/x-patch", content });
  return id;
}

/** Undefined if it is not a regular file. Does not follow links, and reads at most `mostBytes`. */
async function readStart(path: string, mostBytes: number): Promise<Buffer | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const facts = await file.stat();
    if (!facts.isFile()) return undefined;
    const length = Math.min(facts.size, mostBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

function requireCommand({ command }: SolveOptions): readonly [string, ...string[]] {
  const [program, ...args] = command ?? [];
  if (program !== undefined) return [program, ...args];
  throw new HelmdeckError(
    "pack_failed",
    'This server has no coding command. The operator sets HELMDECK_SOLVE_COMMAND to a JSON list, such as ["coder", "--stdin"].',
  );
}

/** The same key as helmdeck's notes. Category and TTL come from the pack's policy. */
export function notesKey(address: string): string {
  return `swe.solve/${createHash("sha256").update(address).digest("hex").slice(0, 16)}/notes`;
}

const NOTES_TTL_SECONDS = 2_592_000;
const NOTES_CATEGORY = "solve";

const MOST_BYTES = 32 * 1_024;
const TASK_CHARACTERS = 300;
const ENTRY_MARK = "\n\n## Run of ";

interface SolvedRun {
  readonly endedAt: UnixMs;
  readonly task: string;
  readonly filesChanged: number;
  /** The command's own note for the next run. */
  readonly lesson: string;
}

/** Empty without a store, and for a repository without earlier runs. */
export async function recallNotes(memory: PackMemory | undefined, address: string): Promise<string> {
  return (await memory?.recall(notesKey(address)))?.value ?? "";
}

/** Adds the run before the earlier ones; the oldest are dropped. A run whose text looks like a credential is not added. */
export async function rememberRun(
  memory: PackMemory | undefined,
  address: string,
  run: SolvedRun,
): Promise<void> {
  if (memory === undefined || (await kindOfSecret(entryOf(run))) !== undefined) return;
  // Read again, because another run on this repository may have ended in the meantime.
  const before = await recallNotes(memory, address);
  const notes = `${entryOf(run)}${before === "" ? "" : `\n\n${before}`}`;
  let kept = notes;
  while (Buffer.byteLength(kept) > MOST_BYTES && kept.includes(ENTRY_MARK)) {
    kept = kept.slice(0, kept.lastIndexOf(ENTRY_MARK));
  }
  const value = kept;
  await memory.store(notesKey(address), value, { ttlSeconds: NOTES_TTL_SECONDS, category: NOTES_CATEGORY });
}

function entryOf({ endedAt, task, filesChanged, lesson }: SolvedRun): string {
  const lines = [
    `## Run of ${new Date(endedAt).toISOString()}`,
    `Task: ${task.replaceAll(/\s+/g, " ").trim().slice(0, TASK_CHARACTERS)}`,
    `Files changed: ${filesChanged}`,
    ...(lesson === "" ? [] : ["", lesson]),
  ];
  return lines.join("\n").toWellFormed();
}
