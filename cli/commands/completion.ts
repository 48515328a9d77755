/** `completion`: prints the script for a shell. `complete`: called by the script at each Tab; it never reports errors. */
import { access } from "node:fs/promises";
import { Argument, type Command, type Option } from "commander";
import type { CommandContext, Runs } from "../../commands/command-line.ts";
import { EXIT_DONE } from "../../commands/exit-codes.ts";
import { refusePlace, withExamples } from "../../commands/option-parsers.ts";
import { defined } from "../../engine/defined.ts";

/** Declares `completion`, and `complete`, which the shells call. */
export function declareCompletion(program: Command, runs: Runs): void {
  const completion = program
    .command("completion")
    .summary("Print a shell completion script.")
    .description(
      "Print a completion script. Add your shell's line to its start-up file: ~/.bashrc, ~/.zshrc (after compinit), ~/.config/fish/config.fish.",
    )
    .addArgument(new Argument("<shell>", "Which shell.").choices(SHELLS))
    .action((shell: CompletingShell, _options: unknown, command: Command) => {
      refusePlace(command);
      return runs(command, async ({ output }) => {
        await output.text(COMPLETION_SCRIPTS[shell]);
        return EXIT_DONE;
      });
    });
  withExamples(completion, [
    'eval "$(helmdeck-memory completion bash)"',
    'eval "$(helmdeck-memory completion zsh)"',
    "helmdeck-memory completion fish | source",
  ]);
  program
    .command("complete", { hidden: true })
    .argument("[words...]")
    .action((words: string[], _options: unknown, command: Command) =>
      runs(command, async (context) => completeCommand(context, program, words)),
    );
}

const MOST_KEYS = 100;

async function completeCommand(
  context: CommandContext,
  root: Command,
  words: readonly string[],
): Promise<number> {
  const keysWith = (
    prefix: string,
    { caller = context.options.caller, db, store }: Readonly<Record<string, string>>,
  ) => keysOf({ ...context, options: { caller, ...defined({ db, store }) } }, prefix);
  const candidates = await candidatesFor(root, words, keysWith).catch(() => []);
  for (const { text, about } of candidates) {
    await context.output.line(about === undefined ? text : `${text}\t${about}`);
  }
  return EXIT_DONE;
}

/** Only from an existing memory: pressing Tab must not create one. */
async function keysOf(context: CommandContext, prefix: string): Promise<readonly string[]> {
  const place = await context.line.memoryOptions(context);
  if (place.server === undefined) await access(place.databasePath);
  const { openMemory } = await import("../../app/open-memory.ts");
  const memory = await openMemory({ ...place, access: "read" });
  try {
    const { facts } = await memory.listFacts(context.options.caller, { prefix, limit: MOST_KEYS });
    return facts.map(({ key }) => key);
  } finally {
    await memory.close();
  }
}

const SHELLS = ["bash", "zsh", "fish"] as const;
export type CompletingShell = (typeof SHELLS)[number];

/** Compatible with bash 3.2, which macOS has. */
const BASH = `_helmdeck_memory() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(helmdeck-memory complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _helmdeck_memory helmdeck-memory
`;

const ZSH = `_helmdeck_memory() {
  local -a found
  found=("\${(@f)$(helmdeck-memory complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  found=("\${(@)found%%$'\\t'*}")
  if [[ -n "\${found[1]}" ]]; then
    compadd -- "\${found[@]}"
  else
    _files
  fi
}
compdef _helmdeck_memory helmdeck-memory
`;

const FISH = `function __helmdeck_memory_complete
    set -l words (commandline -opc)
    set -l found (helmdeck-memory complete -- $words[2..-1] (commandline -ct) 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c helmdeck-memory -f -a '(__helmdeck_memory_complete)'
`;

/**
 * The script that each shell evaluates once. Typed or stored text is never evaluated: words are passed as arguments, and
 * candidates come back as lines, each with a description after a tab. Without candidates the shell completes file names.
 */
export const COMPLETION_SCRIPTS: Readonly<Record<CompletingShell, string>> = {
  bash: BASH,
  zsh: ZSH,
  fish: FISH,
};

interface Candidate {
  readonly text: string;
  readonly about?: string;
}

/** The keys with this prefix, in the memory that the options select. */
type KeysWith = (prefix: string, options: Readonly<Record<string, string>>) => Promise<readonly string[]>;

const PLAIN_KEY = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_./@+,-]*$/u;
/** Arguments and option values that can be the key of a fact. */
const NAMES_A_KEY = new Set(["key", "scope", "prefix"]);

/**
 * Completion candidates at the cursor: commands, options, their choices, keys of facts.
 *
 * Keys can come from anything that an agent reads, and a shell inserts a candidate into the command line, where the next Enter
 * would expand it. So only keys without any special meaning to a shell are offered.
 *
 * `words`: the words after the program's name, the last one up to the cursor.
 */
async function candidatesFor(
  root: Command,
  words: readonly string[],
  keysWith: KeysWith,
): Promise<readonly Candidate[]> {
  const typed = words.at(-1) ?? "";
  let place: Place = { command: root, arguments: 0, given: {}, isLiteral: false };
  for (const word of words.slice(0, -1)) place = after(place, word);
  const { given } = place;
  const all = await allAt(place, typed, (prefix) => keysWith(prefix, given));
  return all.filter(({ text }) => text.startsWith(typed));
}

interface Place {
  readonly command: Command;
  /** The number of its arguments so far. */
  readonly arguments: number;
  /** The option whose value is expected next. */
  readonly option?: Option;
  /** Option values by name. */
  readonly given: Readonly<Record<string, string>>;
  /** After "--". */
  readonly isLiteral: boolean;
}

function after({ option, ...place }: Place, word: string): Place {
  if (option !== undefined) return { ...place, given: { ...place.given, [option.attributeName()]: word } };
  if (word === "--") return { ...place, isLiteral: true };
  if (word.startsWith("-") && !place.isLiteral) return afterOption(place, word);
  const next = place.command.commands.find((one) => one.name() === word || one.aliases().includes(word));
  if (next !== undefined) return { ...place, command: next, arguments: 0 };
  return { ...place, arguments: place.arguments + 1 };
}

function afterOption(place: Place, word: string): Place {
  const [name = "", ...value] = word.split("=");
  const option = optionsOf(place.command).find(({ short, long }) => name === long || name === short);
  if (option === undefined || !(option.required || option.optional)) return place;
  return value.length === 0
    ? { ...place, option }
    : { ...place, given: { ...place.given, [option.attributeName()]: value.join("=") } };
}

async function allAt(
  { command, arguments: count, option, isLiteral }: Place,
  typed: string,
  keysWith: (prefix: string) => Promise<readonly string[]>,
): Promise<readonly Candidate[]> {
  if (option !== undefined) return valuesOf(option, /<(\w+)>/.exec(option.flags)?.[1], typed, keysWith);
  if (typed.startsWith("-") && !isLiteral) return optionsOf(command).map(ofOption);
  if (command.commands.length > 0) {
    return count > 0 ? [] : command.createHelp().visibleCommands(command).map(ofCommand);
  }
  const last = command.registeredArguments.at(-1);
  const argument = command.registeredArguments[count] ?? (last?.variadic ? last : undefined);
  return argument === undefined ? [] : valuesOf(argument, argument.name(), typed, keysWith);
}

async function valuesOf(
  { argChoices }: Pick<Option | Argument, "argChoices">,
  name: string | undefined,
  typed: string,
  keysWith: (prefix: string) => Promise<readonly string[]>,
): Promise<readonly Candidate[]> {
  if (argChoices !== undefined) return argChoices.map((text) => ({ text }));
  if (name === undefined || !NAMES_A_KEY.has(name)) return [];
  const keys = await keysWith(typed);
  return keys.filter((key) => PLAIN_KEY.test(key)).map((text) => ({ text }));
}

/** Its own options and those of all commands. */
function optionsOf(command: Command): readonly Option[] {
  const help = command.createHelp();
  return [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
}

function ofOption({ long, short, description }: Option): Candidate {
  return { text: long ?? short ?? "", about: description };
}

function ofCommand(command: Command): Candidate {
  return { text: command.name(), about: command.summary() || command.description() };
}
