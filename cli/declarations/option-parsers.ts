/** Parsers of options and arguments, each with one sentence on what it wants, and the shared shape of declarations. */
import { type Command, InvalidArgumentError } from "commander";
import type { CommandContext } from "../command-context.ts";
import { parseSeconds } from "../duration.ts";

/** Runs the work of a command with its context; the work is imported when it runs. */
export type Runs = (command: Command, work: (context: CommandContext) => Promise<number>) => Promise<void>;

export function withExamples(command: Command, examples: readonly string[]): Command {
  return command.addHelpText(
    "after",
    `\nExamples:\n${examples.map((example) => `  $ ${example}`).join("\n")}`,
  );
}

export function nonEmpty(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("It must not be empty.");
  return text;
}

export function count(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError("It must be a whole number from 1.");
  return Number(text);
}

export function seconds(text: string): number {
  const parsed = parseSeconds(text);
  if (parsed === undefined)
    throw new InvalidArgumentError("Write seconds or a span such as 90m, 12h, 30d, 4w.");
  return parsed;
}

export function collect(tag: string, before: readonly string[] = []): readonly string[] {
  return [...before, tag];
}
