/**
 * Completion candidates at the cursor: commands, options, their choices, keys of facts.
 *
 * Keys can come from anything that an agent reads, and a shell inserts a candidate into the command line, where the next Enter
 * would expand it. So only keys without any special meaning to a shell are offered.
 */
import type { Argument, Command, Option } from "commander";

export interface Candidate {
  readonly text: string;
  readonly about?: string;
}

/** The keys with this prefix, in the memory that the options select. */
export type KeysWith = (
  prefix: string,
  options: Readonly<Record<string, string>>,
) => Promise<readonly string[]>;

const PLAIN_KEY = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_./@+,-]*$/u;
/** Arguments and option values that can be the key of a fact. */
const NAMES_A_KEY = new Set(["key", "scope", "prefix"]);

/** `words`: the words after the program's name, the last one up to the cursor. */
export async function candidatesFor(
  root: Command,
  words: readonly string[],
  keysWith: KeysWith,
): Promise<readonly Candidate[]> {
  const typed = words.at(-1) ?? "";
  const place = placeAt(root, words.slice(0, -1));
  const all = await allAt(place, typed, (prefix) => keysWith(prefix, place.given));
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

function placeAt(root: Command, words: readonly string[]): Place {
  let place: Place = { command: root, arguments: 0, given: {}, isLiteral: false };
  for (const word of words) place = after(place, word);
  return place;
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
  if (option === undefined || !takesValue(option)) return place;
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
  const argument = command.registeredArguments[count] ?? variadicOf(command);
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

function variadicOf(command: Command): Argument | undefined {
  const last = command.registeredArguments.at(-1);
  return last?.variadic ? last : undefined;
}

/** Its own options and those of all commands. */
function optionsOf(command: Command): readonly Option[] {
  const help = command.createHelp();
  return [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

function ofOption({ long, short, description }: Option): Candidate {
  return { text: long ?? short ?? "", about: description };
}

function ofCommand(command: Command): Candidate {
  return { text: command.name(), about: command.summary() || command.description() };
}
