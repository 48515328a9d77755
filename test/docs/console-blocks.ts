/**
 * Commands and their output, as a page shows them:
 *
 *     ```console picture=NAME
 *     $ a command
 *     its output; a line, or a part of one, that is … matches anything
 *     ```
 */

export interface ConsoleBlock {
  /** The heading that precedes it. */
  readonly heading: string;
  /** The words after `console`. */
  readonly is: ReadonlySet<string>;
  /** The name of the picture file in which the page shows it. */
  readonly picture: string | undefined;
  readonly steps: readonly ConsoleStep[];
}

export interface ConsoleStep {
  readonly command: string;
  readonly expected: readonly string[];
}

const BLOCK = /^```console *([^\n]*)\n(.*?)^```/gms;
const PROMPT = "$ ";
/** A command that ends with this continues on the next line. */
const GOES_ON = "\\\n";

export function consoleBlocks(page: string): readonly ConsoleBlock[] {
  return page.split(/^#+ /m).flatMap((section) => {
    const [heading = ""] = section.split("\n");
    return [...section.matchAll(BLOCK)].map(([, info = "", text = ""]) => {
      const words = info.split(" ").filter((word) => word !== "");
      const picture = words.find((word) => word.startsWith("picture="))?.slice("picture=".length);
      return { heading, is: new Set(words), picture, steps: stepsIn(text) };
    });
  });
}

function stepsIn(text: string): readonly ConsoleStep[] {
  const parts = text.replaceAll(GOES_ON, "").split(/^\$ /m).slice(1);
  return parts.map((part) => {
    const [command = "", ...expected] = part.trimEnd().split("\n");
    return { command, expected };
  });
}

/** The command as a person types it. */
export function typed({ command }: ConsoleStep): string {
  return `${PROMPT}${command}`;
}

/** A pattern that matches the real output if it agrees with the page's `expected` output. */
export function patternOf(expected: readonly string[]): RegExp {
  const lines = expected.map((line) => (line.trim() === "…" ? "(?:.*\\n)*?" : `${patternOfLine(line)}\\n`));
  return new RegExp(`^${lines.join("")}$`);
}

function patternOfLine(line: string): string {
  return line.trimEnd().split("…").map(escaped).join(".*");
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
