/** Declares `edit`. */
import type { Command } from "commander";
import type { FactView } from "../app/memory.ts";
import { defined } from "../engine/defined.ts";
import { isHelmdeckError } from "../engine/errors.ts";
import { harmlessBlock, harmlessLine } from "../engine/facts/hostile-text.ts";
import type { CommandContext, Runs } from "./command-line.ts";
import { textFromEditor } from "./editor.ts";
import { EXIT_DONE, EXIT_FAILED } from "./exit-codes.ts";
import { agreesAt } from "./input.ts";
import { missingFact } from "./missing-fact.ts";
import { nonEmpty, seconds, withExamples } from "./option-parsers.ts";
import { keepFact, readValue } from "./store.ts";
import { withMemory } from "./with-memory.ts";

export function declareEdit(program: Command, runs: Runs): void {
  const edit = program
    .command("edit")
    .summary("Change the value of a fact.")
    .description(
      "Change the value of a fact. Category, tags and a chosen end stay, and the former value goes into the history. If somebody changed or forgot the fact meanwhile, nothing is stored, and both values are shown. Without a value, it opens $VISUAL or $EDITOR on a file in memory, never on a disk.",
    )
    .argument("<key>", "The exact key; case matters. Or the path, docid or citation of a search hit.")
    .argument("[value]", "The new text, at most 64 KiB; - reads it from standard input.")
    .option("--value-file <file>", "Read the new value from a file.", nonEmpty)
    .option(
      "--ttl <span>",
      "How long to keep it from now: 3600, 12h, 90d. Default: 90 days, or the end that was chosen before.",
      seconds,
    )
    .option("--allow-secret", "Store it even if it looks like a credential.")
    .action((key: string, value: string | undefined, _options: unknown, command: Command) => {
      const { valueFile, ttl, allowSecret = false } = command.opts<EditOptions>();
      if (value !== undefined && valueFile !== undefined) {
        command.error("give the value once: as VALUE, as - for standard input, or with --value-file.");
      }
      return runs(command, async (context) => {
        const request = { key, allowSecret, ...defined({ value, valueFile, ttlSeconds: ttl }) };
        const problem = problemOf(context, request);
        return problem === undefined ? editCommand(context, request) : command.error(problem);
      });
    });
  withExamples(edit, [
    'helmdeck-memory edit deploy/konflux "We deploy through Konflux, on Fridays too"',
    "helmdeck-memory edit house/style --value-file style.md",
    "EDITOR=nano helmdeck-memory edit house/style",
  ]);
}

interface EditOptions {
  readonly valueFile?: string;
  readonly ttl?: number;
  readonly allowSecret?: boolean;
}

interface EditRequest {
  readonly key: string;
  /** `-` is standard input. */
  readonly value?: string;
  readonly valueFile?: string;
  readonly ttlSeconds?: number;
  /** Store the value even if it looks like a credential. */
  readonly allowSecret: boolean;
}

/**
 * `edit`: a new value for an existing fact, from the command line or from an editor.
 *
 * Why the request cannot run: there is no terminal, or no editor.
 */
function problemOf({ shell }: CommandContext, request: EditRequest): string | undefined {
  if (!isTyped(request)) return undefined;
  if (shell.stdin.isTTY !== true)
    return "give the new value: as VALUE, as - for standard input, or with --value-file.";
  if (editorOf(shell) !== undefined) return undefined;
  return "set VISUAL or EDITOR to your editor, or give the new value: as VALUE, as -, or with --value-file.";
}

async function editCommand(context: CommandContext, request: EditRequest): Promise<number> {
  const before = await factToEdit(context, request.key);
  return edit(context, request, before, before.value);
}

/** `before`: what is stored, which the new value may replace. `text`: what the editor begins with. */
async function edit(
  context: CommandContext,
  request: EditRequest,
  before: Stored,
  text: string,
): Promise<number> {
  const { allowSecret, ttlSeconds } = request;
  const value = await newValue(context, request, text);
  if (isTyped(request) && value.trim() === before.value) {
    await context.output.note("Nothing was changed in the editor.");
    return EXIT_DONE;
  }
  const { key, revision: ifRevision } = before;
  try {
    return await keepFact(context, { key, value, ...defined({ ttlSeconds, ifRevision }) }, allowSecret);
  } catch (error) {
    if (!isHelmdeckError(error, "changed_meanwhile")) throw error;
    if (!isTyped(request) && context.options.json) throw error;
    const now = await tellBoth(context, key, value);
    if (!isTyped(request)) throw error;
    return (await agreesAt(context.shell, "Edit yours again?"))
      ? edit(context, request, now, value)
      : EXIT_FAILED;
  }
}

/** A fact, or the fact's key if it was forgotten meanwhile. */
type Stored = Pick<FactView, "key"> & Partial<Pick<FactView, "value" | "revision">>;

/** What the person wrote comes first: it is nowhere else. */
async function tellBoth(context: CommandContext, key: string, value: string): Promise<Stored> {
  const { output, options } = context;
  await output.note(
    `Nothing was stored: ${harmlessLine(key)} was changed or forgotten meanwhile.\nYours:\n${indented(value)}`,
  );
  const now = await withMemory(context, (memory) => memory.getFact(options.caller, { key }));
  await output.note(
    now === undefined ? "Nothing is stored under this key now." : `Stored now:\n${indented(now.value)}`,
  );
  return now ?? { key, revision: 0 };
}

function indented(value: string): string {
  return harmlessBlock(value).trimEnd().replaceAll(/^/gm, "      ");
}

async function factToEdit(context: CommandContext, key: string): Promise<FactView> {
  const fact = await withMemory(context, (memory) => memory.getFact(context.options.caller, { key }));
  if (fact === undefined) throw missingFact(context);
  return fact;
}

/** Whether the value comes from an editor. */
function isTyped({ value, valueFile }: EditRequest): boolean {
  return value === undefined && valueFile === undefined;
}

function newValue(context: CommandContext, { value, valueFile }: EditRequest, text: string): Promise<string> {
  if (value !== undefined && value !== "-") return Promise.resolve(value);
  if (value === "-" || valueFile !== undefined) return readValue(context, { path: valueFile ?? "-" });
  return textFromEditor(context.shell, editorOf(context.shell) ?? "", text);
}

function editorOf({ env }: CommandContext["shell"]): string | undefined {
  return [env.VISUAL, env.EDITOR].find((editor) => editor !== undefined && editor.trim() !== "");
}
