/** Writes the command line's help into docs/reference/cli.md: `node scripts/cli-reference.ts`. */
import { readFileSync, writeFileSync } from "node:fs";
import { PassThrough, Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { HELMDECK_MEMORY } from "../cli/index.ts";
import { runCommandLine } from "../commands/run-program.ts";

export const REFERENCE_PATH = fileURLToPath(new URL("../docs/reference/cli.md", import.meta.url));

const HELP_BLOCK = /<!-- help: ([a-z -]+) -->\n```text\n[^`]*```/g;

/** The reference with current help in each block after a `<!-- help: NAME -->` line. */
export async function withCurrentHelp(markdown: string): Promise<string> {
  const helps = new Map<string, string>();
  for (const name of documentedCommands(markdown)) helps.set(name, await helpOf(name));
  return markdown.replace(HELP_BLOCK, (_block, name: string) => {
    return `<!-- help: ${name} -->\n\`\`\`text\n${helps.get(name)}\n\`\`\``;
  });
}

/** The commands in the reference, in order; the program's name stands for its main help. */
export function documentedCommands(markdown: string): readonly string[] {
  return [...markdown.matchAll(HELP_BLOCK)].map(([, name]) => name ?? "");
}

/** Formatted for 80 columns. */
async function helpOf(name: string): Promise<string> {
  const stdout = new PassThrough();
  const shell = {
    stdin: Readable.from([]),
    stdout,
    stderr: new Writable(),
    env: {},
    homeDir: "/",
    now: () => 0,
  };
  const isMain = name === HELMDECK_MEMORY.name;
  await runCommandLine([...(isMain ? [] : name.split(" ")), "--help"], shell, HELMDECK_MEMORY);
  stdout.end();
  const help = (await text(stdout)).trimEnd();
  return isMain ? help : withoutShared(help);
}

/** Without the options of every command, which the program's own help shows. */
function withoutShared(help: string): string {
  return `${help}\n`
    .replace(/^Global Options:\n(?: .*\n)+\n?/m, "")
    .replace(/^ +-h, --help .*\n(?: {10,}.*\n)*/m, "")
    .replace(/^Options:\n\n/m, "")
    .trimEnd();
}

if (import.meta.main) {
  writeFileSync(REFERENCE_PATH, await withCurrentHelp(readFileSync(REFERENCE_PATH, "utf8")));
}
