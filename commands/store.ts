/** Declares `store`. */
import type { Command } from "commander";
import type { FactInput, StoredFact } from "../app/memory.ts";
import { expiryFrom, localMinute } from "../app/presenters/words.ts";
import { toWire } from "../app/wire/codec.ts";
import { defined } from "../engine/defined.ts";
import { harmlessLine } from "../engine/facts/hostile-text.ts";
import type { CommandContext, Runs } from "./command-line.ts";
import { EXIT_DONE } from "./exit-codes.ts";
import { inputSource, readText } from "./input.ts";
import { collect, nonEmpty, seconds, withExamples } from "./option-parsers.ts";
import { embedStored, withMemoryToWrite } from "./with-memory.ts";

export function declareStore(program: Command, runs: Runs): void {
  const store = program
    .command("store")
    .alias("add")
    .summary("Store or replace one fact.")
    .description(
      "Store one fact, or replace the one with this key; then category, tags and a chosen end stay unless you give others. Other users can read a command's arguments while it runs (ps): for sensitive text use - or --value-file.",
    )
    .argument("<key>", "The key: 1 to 512 bytes; slashes group keys.")
    .argument("[value]", "The text, at most 64 KiB; - reads it from standard input.")
    .option("--value-file <file>", "Read the value from a file.", nonEmpty)
    .option("--category <name>", "A group of facts; default: as before, or user_facts.")
    .option("--tag <tag>", "A word to find it by; up to 32 times. Replaces the tags.", collect)
    .option("--no-tags", "Drop the tags.")
    .option(
      "--ttl <span>",
      "How long to keep it: 3600, 12h, 90d; 1 hour to 365 days. Default: 90 days unless set otherwise, or as chosen before.",
      seconds,
    )
    .option("--supersedes <key>", "An outdated fact to retire; up to 9 times.", collect)
    .option("--allow-secret", "Store it even if it looks like a credential.")
    .action((key: string, value: string | undefined, _options: unknown, command: Command) => {
      const { valueFile, category, tag, tags, ttl, supersedes, ...asked } = command.opts<StoreOptions>();
      if (tag !== undefined && !tags) command.error("give --tag or --no-tags, not both.");
      if (value === undefined && valueFile === undefined)
        command.error(
          "the value is missing: write it after the key, or - for standard input, or use --value-file.",
        );
      if (value !== undefined && valueFile !== undefined)
        command.error("give the value once: after the key, or with --value-file.");
      const source = value !== undefined && value !== "-" ? { text: value } : { path: valueFile ?? "-" };
      return runs(command, async (context) => {
        const about = defined({ category, tags: tags ? tag : [], ttlSeconds: ttl, supersedes });
        return keepFact(
          context,
          { key, ...about, value: await readValue(context, source) },
          asked.allowSecret,
        );
      });
    });
  withExamples(store, [
    'helmdeck-memory store deploy/konflux "We deploy through Konflux" --tag deployment',
    "helmdeck-memory store plans/q3 - --category team --ttl 30d < plan.txt",
    "helmdeck-memory store house/style --value-file style.md",
    'helmdeck-memory store deploy/argo "We deploy through Argo CD" --supersedes deploy/konflux',
  ]);
}

interface StoreOptions {
  readonly valueFile?: string;
  readonly category?: string;
  readonly tag?: readonly string[];
  /** False: --no-tags. */
  readonly tags: boolean;
  readonly ttl?: number;
  readonly supersedes?: readonly string[];
  readonly allowSecret?: boolean;
}

/** Twice the policy's limit for a value, which does not count surrounding white space. */
const READ_LIMIT_BYTES = 128 * 1024;

export type ValueSource = { readonly text: string } | { readonly path: string };

/** Stores the fact, acknowledges it, and then tries to embed it. */
export async function keepFact(
  context: CommandContext,
  fact: FactInput,
  allowSecret = false,
): Promise<number> {
  const { caller } = context.options;
  const store = allowSecret ? "storeFactAllowingSecret" : "storeFact";
  await withMemoryToWrite(
    context,
    (memory) => memory[store](caller, fact, { surface: "cli", agent: caller, isPerson: true }),
    async (memory, stored) => {
      await acknowledge(context, stored);
      await embedStored(memory, caller, stored.key);
    },
  );
  return EXIT_DONE;
}

async function acknowledge(context: CommandContext, stored: StoredFact): Promise<void> {
  if (context.options.json) return context.output.json(toWire(stored));
  await context.output.line(sentenceOf(stored, context));
  for (const note of alikeNotes(stored)) await context.output.note(note);
}

/** Notes about facts that may need correction. */
function alikeNotes({ superseded = [], sameAs = [], similar = [] }: StoredFact): readonly string[] {
  return [
    ...superseded.map((key) => `Retired: ${harmlessLine(key)}`),
    ...sameAs.map((key) => `The same value is stored under ${harmlessLine(key)}`),
    ...similar.map(
      ({ key, value, contradicts }) =>
        `${contradicts ? "Contradicts" : "Similar"}: ${harmlessLine(key)}: ${value}`,
    ),
    ...(similar.length > 0 ? ["If one of these is outdated, store again with --supersedes KEY."] : []),
  ];
}

/** Reads the value from the command line, a file, or standard input. */
export async function readValue({ shell, output }: CommandContext, source: ValueSource): Promise<string> {
  if ("text" in source) return source.text;
  const isTyped = source.path === "-" && shell.stdin.isTTY === true;
  if (isTyped) await output.note("Type the value, then press Ctrl-D on a new line.");
  return readText(inputSource(shell, source.path), READ_LIMIT_BYTES);
}

function sentenceOf(stored: StoredFact, { shell, options }: CommandContext): string {
  const what = `${harmlessLine(stored.key)} (${stored.category}) for ${harmlessLine(options.caller)}`;
  const expiry = `It expires ${expiryFrom(shell.now(), stored.expiresAt)}, on ${localMinute(stored.expiresAt)}.`;
  if (stored.replaced === undefined) return `Stored ${what}. ${expiry}`;
  const before = localMinute(stored.replaced.updatedAt);
  return stored.replaced.refreshed
    ? `Refreshed ${what}: it has had this value since ${before}. ${expiry}`
    : `Stored ${what}, replacing the value of ${before}. ${expiry}`;
}
