/** The command line as commander knows it: every command, argument, option and example; the work is loaded when it runs. */
import { Command, InvalidArgumentError } from "commander";
import manifest from "../package.json" with { type: "json" };
import type { CommandContext, SharedOptions } from "./context.ts";
import { parseSeconds } from "./duration.ts";
import { EXIT_DONE } from "./failure.ts";
import type { Output } from "./output.ts";
import type { Shell } from "./shell.ts";

const NAME = "helmdeck-memory";

/** OpenClaw's default agent, so that a shell and that agent share one memory. */
const DEFAULT_CALLER = "main";

export interface Program {
  readonly program: Command;
  /** What the command that ran answered. */
  readonly exitCode: () => number;
}

/** A fresh program: parse a command line with it once. */
export function makeProgram(shell: Shell, output: Output): Program {
  let answered: number = EXIT_DONE;
  const runs: Runs = async (command, work) => {
    answered = await work({ shell, output, options: command.optsWithGlobals<SharedOptions>() });
  };
  const program = rootCommand(shell);
  for (const declare of COMMANDS) declare(program, runs);
  return { program, exitCode: () => answered };
}

type Runs = (command: Command, work: (context: CommandContext) => Promise<number>) => Promise<void>;

const COMMANDS: readonly ((program: Command, runs: Runs) => void)[] = [
  declareStore,
  declareGet,
  declareList,
  declareSearch,
  declareForget,
  declareImport,
  declareExport,
  declareDoctor,
];

function rootCommand(shell: Shell): Command {
  const root = new Command(NAME)
    .description("What helmdeck memory holds for OpenClaw, from a shell: store, look, search, forget.")
    .version(manifest.version, "-V, --version", "Print the version.")
    .helpOption("-h, --help", "Show help; after a command, the help of that command.")
    .helpCommand("help [command]", "Show the help of a command.")
    .option("--json", "Print the answer (and on stderr an error) as one line of JSON.")
    .option("--caller <subject>", "Whose memory: the id of an OpenClaw agent.", nonEmpty, DEFAULT_CALLER)
    .option("--db <path>", "Another database than the one that the OpenClaw plugin uses.", nonEmpty)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void shell.stdout.write(text),
      writeErr: (text) => void shell.stderr.write(text),
      getOutHelpWidth: () => shell.stdout.columns ?? 80,
      getErrHelpWidth: () => shell.stderr.columns ?? 80,
      // The failure is reported once, by run.ts.
      outputError: () => {},
    });
  return withExamples(root, [
    'helmdeck-memory store deploy/konflux "We deploy through Konflux, never by hand"',
    'helmdeck-memory search "konflux deployment preference"',
    "helmdeck-memory list",
  ]);
}

function declareStore(program: Command, runs: Runs): void {
  const store = program
    .command("store")
    .summary("Store one fact, or replace it.")
    .description(
      "Store one fact, or replace the one with this key. Other processes can read the arguments of a command while it runs (ps): for sensitive text give - or --value-file.",
    )
    .argument("<key>", "What to call it: 1 to 512 bytes; slashes group keys.")
    .argument("[value]", "The text, at most 64 KiB; - reads it from standard input.")
    .option("--value-file <file>", "Read the value from a file.", nonEmpty)
    .option("--category <name>", "A group of facts; default user_facts.")
    .option("--tag <tag>", "A word to find it by; may be given up to 32 times.", collect)
    .option(
      "--ttl <span>",
      "How long to keep it: 3600, 12h, 90d; 1 hour to 365 days, default 90 days.",
      seconds,
    )
    .action((key: string, value: string | undefined, _options: unknown, command: Command) => {
      const { valueFile, category, tag, ttl } = command.opts<StoreOptions>();
      if ((value === undefined) === (valueFile === undefined)) {
        command.error("give the value once: as VALUE, as - for standard input, or with --value-file.");
      }
      const source = value !== undefined && value !== "-" ? { text: value } : { path: valueFile ?? "-" };
      return runs(command, async (context) => {
        const { storeCommand } = await import("./commands/store.ts");
        return storeCommand(context, {
          key,
          source,
          tags: tag ?? [],
          ...(category === undefined ? {} : { category }),
          ...(ttl === undefined ? {} : { ttlSeconds: ttl }),
        });
      });
    });
  withExamples(store, [
    'helmdeck-memory store deploy/konflux "We deploy through Konflux" --tag deployment',
    "helmdeck-memory store plans/q3 - --category team --ttl 30d < plan.txt",
    "helmdeck-memory store house/style --value-file style.md",
  ]);
}

interface StoreOptions {
  readonly valueFile?: string;
  readonly category?: string;
  readonly tag?: readonly string[];
  readonly ttl?: number;
}

function declareGet(program: Command, runs: Runs): void {
  const get = program
    .command("get")
    .summary("Print the value of one fact.")
    .description(
      "Print the value of one fact. Characters that would act on a terminal are written out; --json has the exact value.",
    )
    .argument("<key>", "The exact key; case matters.")
    .action((key: string, _options: unknown, command: Command) =>
      runs(command, async (context) => (await import("./commands/get.ts")).getCommand(context, key)),
    );
  withExamples(get, ["helmdeck-memory get deploy/konflux", "helmdeck-memory get deploy/konflux --json"]);
}

function declareList(program: Command, runs: Runs): void {
  const list = program
    .command("list")
    .summary("List facts, newest first.")
    .description("List facts, newest first.")
    .argument("[prefix]", "Only keys that begin with this; case matters, no wildcards.")
    .option("--category <name>", "Only this category.")
    .option("--limit <count>", "At most so many.", count, 100)
    .action((prefix: string | undefined, _options: unknown, command: Command) => {
      const { category, limit } = command.opts<ListOptions>();
      return runs(command, async (context) => {
        const { listCommand } = await import("./commands/list.ts");
        return listCommand(context, {
          limit,
          ...(prefix === undefined ? {} : { prefix }),
          ...(category === undefined ? {} : { category }),
        });
      });
    });
  withExamples(list, [
    "helmdeck-memory list",
    "helmdeck-memory list deploy/ --limit 20",
    "helmdeck-memory list --category team --json",
  ]);
}

interface ListOptions {
  readonly category?: string;
  readonly limit: number;
}

function declareSearch(program: Command, runs: Runs): void {
  const search = program
    .command("search")
    .summary("Search facts and audit rows, best first.")
    .description("Search facts and audit rows, best first, as OpenClaw's memory_search does.")
    .argument("<query...>", "Words or a question.")
    .option("--limit <count>", "At most so many hits, 1 to 50.", count, 10)
    .option("--explain", "Show what each score is made of.")
    .action((words: string[], _options: unknown, command: Command) => {
      const { limit, explain } = command.opts<SearchOptions>();
      const query = words.join(" ").trim();
      if (query === "") command.error("give the words to search for.");
      return runs(command, async (context) => {
        const { searchCommand } = await import("./commands/search.ts");
        return searchCommand(context, { query, limit, ...(explain ? { explain } : {}) });
      });
    });
  withExamples(search, [
    "helmdeck-memory search konflux deployment preference",
    'helmdeck-memory search "who reviews the release notes" --limit 3 --explain',
    "helmdeck-memory search konflux --json",
  ]);
}

interface SearchOptions {
  readonly limit: number;
  readonly explain?: boolean;
}

function declareForget(program: Command, runs: Runs): void {
  const forget = program
    .command("forget")
    .summary("Delete what a scope names.")
    .description("Delete for good what a scope names. On a terminal it shows what that is and asks first.")
    .argument(
      "<scope>",
      "key:<exact key>, category:<name>, packs, pipelines, pack:<id>, pipeline:<id>, all (facts and audit rows), everything (also caches, notes and sessions), or the path or docid of a search hit.",
    )
    .option("--dry-run", "Only say how much it would delete.")
    .option("--yes", "Do not ask.")
    .action((scope: string, _options: unknown, command: Command) => {
      const { dryRun, yes } = command.opts<ForgetOptions>();
      return runs(command, async (context) => {
        const { forgetCommand } = await import("./commands/forget.ts");
        return forgetCommand(context, { scope, dryRun: dryRun === true, yes: yes === true });
      });
    });
  withExamples(forget, [
    "helmdeck-memory forget key:deploy/konflux",
    "helmdeck-memory forget category:team --dry-run",
    "helmdeck-memory forget helmdeck/user_facts/deploy/konflux.md --yes",
  ]);
}

interface ForgetOptions {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

function declareImport(program: Command, runs: Runs): void {
  const importing = program
    .command("import")
    .summary("Import facts and audit rows from JSON Lines.")
    .description(
      "Import facts and audit rows, one JSON object a line. Good lines go in; each refused one is named with its reason, and the exit code is then 1.",
    )
    .argument("<file>", "A JSON Lines file; - reads standard input.")
    .action((file: string, _options: unknown, command: Command) =>
      runs(command, async (context) => (await import("./commands/import.ts")).importCommand(context, file)),
    );
  withExamples(importing, [
    "helmdeck-memory import facts.jsonl",
    "ssh old-host helmdeck-memory export | helmdeck-memory import -",
  ]);
}

function declareExport(program: Command, runs: Runs): void {
  const exporting = program
    .command("export")
    .summary("Write facts and audit rows as JSON Lines.")
    .description("Write every fact and audit row as JSON Lines, values in plain text, ready for import.")
    .option(
      "--output <file>",
      "Write a new file that only you can read (mode 0600); it must not exist yet.",
      nonEmpty,
    )
    .action((_options: unknown, command: Command) => {
      const { output } = command.opts<{ readonly output?: string }>();
      return runs(command, async (context) =>
        (await import("./commands/export.ts")).exportCommand(context, output),
      );
    });
  withExamples(exporting, [
    "helmdeck-memory export --output memory-2026-11.jsonl",
    "helmdeck-memory export --caller work | gpg --encrypt --recipient me > memory.jsonl.gpg",
  ]);
}

function declareDoctor(program: Command, runs: Runs): void {
  const doctor = program
    .command("doctor")
    .summary("Look for what is wrong, and say what to do.")
    .description(
      "Look at everything that memory needs, and say what is wrong and what to do. Exit code 1 when something is.",
    )
    .action((_options: unknown, command: Command) =>
      runs(command, async (context) => (await import("./commands/doctor.ts")).doctorCommand(context)),
    );
  withExamples(doctor, ["helmdeck-memory doctor", "helmdeck-memory doctor --json"]);
}

function withExamples(command: Command, examples: readonly string[]): Command {
  return command.addHelpText(
    "after",
    `\nExamples:\n${examples.map((example) => `  $ ${example}`).join("\n")}`,
  );
}

function nonEmpty(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("It must not be empty.");
  return text;
}

function count(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError("It must be a whole number from 1.");
  return Number(text);
}

function seconds(text: string): number {
  const parsed = parseSeconds(text);
  if (parsed === undefined)
    throw new InvalidArgumentError("Write seconds or a span such as 90m, 12h, 30d, 4w.");
  return parsed;
}

function collect(tag: string, before: readonly string[] = []): readonly string[] {
  return [...before, tag];
}
