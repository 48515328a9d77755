/** Declares `import` and `imports`. */
import { type Command, Option } from "commander";
import type { KnownImport } from "../app/memory.ts";
import { importCounts } from "../app/presenters/forget-texts.ts";
import type { Presented, Voice } from "../app/presenters/presented.ts";
import {
  IMPORT_FORMATS,
  type ImportFormat,
  KNOWN_RULES,
  type KnownRule,
} from "../app/transfer/formats/names.ts";
import { defined } from "../engine/defined.ts";
import { CONFLICT_RULES, type ConflictRule } from "../engine/store/memory-store.ts";
import { type CommandContext, present, type Runs, voiceOf } from "./command-line.ts";
import { EXIT_DONE } from "./exit-codes.ts";
import { collect, nonEmpty, seconds, withExamples } from "./option-parsers.ts";
import { refuseRemote, withMemory } from "./with-memory.ts";

export function declareImport(program: Command, runs: Runs): void {
  const importing = program
    .command("import")
    .summary("Import facts from an export or from other programs.")
    .description(
      "Import facts and records of runs: an export's JSON Lines, or with --from the notes and memories of other programs, after a preview. Refused entries are listed with the reason, and the exit code is 1.",
    )
    .argument("<file...>", "Files; with --from openclaw also a workspace folder. - reads standard input.")
    .addOption(
      new Option(
        "--from <format>",
        "The format: jsonl (an export; the default but for notes known by name), helmdeck (its helmdeck.db), openclaw (MEMORY.md, USER.md, daily notes), markdown (CLAUDE.md, AGENTS.md, any other, and an export), mem0 (its get_all as JSON, OpenMemory's backup), server-memory (its memory.jsonl).",
      ).choices(IMPORT_FORMATS),
    )
    .option(
      "--key-file <file>",
      "With --from helmdeck: a file with its key, alone or as HELMDECK_MEMORY_KEY=… (default: that variable).",
    )
    .option(
      "--map <from=to>",
      "With --from helmdeck: a caller there and its name here; repeatable. Default: openclaw-configure becomes --caller, others keep their names.",
      collect,
    )
    .option("--stopped", "With --from helmdeck: it was stopped before the copy, so there is no -wal.")
    .option("--dry-run", "Only show what would be imported.")
    .option("--show-all", "Show all facts in the preview, not only the first ten.")
    .option("--yes", "Do not ask.")
    .option("--ttl <span>", "Time to live of entries that have none: 3600, 12h, 30d.", seconds)
    .option("--category <name>", "For notes: the category of all imported facts.", nonEmpty)
    .option("--allow-secrets", "Also import texts that look like credentials.")
    .addOption(
      new Option(
        "--on-conflict <rule>",
        "If a fact exists: keep the newer one, keep the existing one, or replace it.",
      )
        .choices(CONFLICT_RULES)
        .default("newer"),
    )
    .addOption(
      new Option(
        "--on-known <rule>",
        "If memory has a fact under another key, or one that contradicts it: keep both (default), skip the imported one, or supersede the older one. A preview on a terminal asks.",
      ).choices(KNOWN_RULES),
    )
    .action((files: readonly string[], given: ImportOptions, command: Command) =>
      runs(command, async (context) => {
        const { importCommand } = await import("./import-files.ts");
        const { allowSecrets = false, dryRun = false, yes = false, stopped = false, map = [] } = given;
        const { onConflict, onKnown, from, keyFile, ttl, category, showAll = false } = given;
        const order = { files, allowSecrets, dryRun, showAll, yes, stopped, map, onConflict };
        const named = defined({ from, keyFile, category, onKnown, ttlSeconds: ttl });
        return importCommand(context, { ...order, ...named });
      }),
    );
  withExamples(importing, [
    "helmdeck-memory import facts.jsonl",
    "helmdeck-memory import --from openclaw ~/.openclaw/workspace",
    "helmdeck-memory import CLAUDE.md --dry-run",
    "helmdeck-memory import --from helmdeck helmdeck.db --key-file .env.local",
    "ssh old-host helmdeck-memory export | helmdeck-memory import -",
  ]);
}

export function declareImports(program: Command, runs: Runs): void {
  const imports = program
    .command("imports")
    .summary("List the imports that can be undone.")
    .description("List the imports of which facts are left; forget import:<id> undoes one.")
    .action((_options: unknown, command: Command) =>
      runs(command, async (context) => importsCommand(context)),
    );
  withExamples(imports, ["helmdeck-memory imports"]);
}

interface ImportOptions {
  readonly from?: ImportFormat;
  readonly keyFile?: string;
  readonly map?: readonly string[];
  readonly stopped?: boolean;
  readonly dryRun?: boolean;
  readonly showAll?: boolean;
  readonly yes?: boolean;
  readonly ttl?: number;
  readonly category?: string;
  readonly allowSecrets?: boolean;
  readonly onConflict: ConflictRule;
  readonly onKnown?: KnownRule;
}

/** `imports`: lists imports that can be undone. */
async function importsCommand(context: CommandContext): Promise<number> {
  await refuseRemote(context, "imports --caller SUBJECT");
  const imports = await withMemory(context, (memory) => memory.imports(context.options.caller));
  if (context.options.json) await context.output.json({ imports });
  else await present(context, importsText(imports, voiceOf(context)));
  return EXIT_DONE;
}

function importsText(imports: readonly KnownImport[], { command }: Voice): Presented {
  return {
    answer: imports.map((known) => `import:${known.id}  ${importCounts(known)}`),
    notes: [
      imports.length === 0
        ? `No import is left in memory. ${command} import --help lists what can be imported.`
        : `${command} forget import:<id> undoes one import.`,
    ],
  };
}
