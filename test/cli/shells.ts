/** A person who presses Tab in a real shell. */
import { execFile } from "node:child_process";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { COMPLETION_SCRIPTS, type CompletingShell } from "../../cli/commands/completion.ts";
import { BUNDLED_COMMAND, type CommandHome } from "./command.ts";

/** The candidates that each shell's own completion offers at the end of the line. */
const ASKING: Readonly<Record<CompletingShell, (line: string) => readonly string[]>> = {
  bash: (line) => [
    "--norc",
    "-c",
    `source ./tab.sh; words='${line}'; COMP_WORDS=($words); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _helmdeck_memory; printf '%s\\n' "\${COMPREPLY[@]}"`,
  ],
  // compadd is the builtin that receives the candidates. Its arguments are the candidates on offer.
  zsh: (line) => [
    "-f",
    "-c",
    `compdef() { : }; compadd() { shift; print -rl -- "$@" }; _files() { : }; source ./tab.sh; words=(\${(z):-'${line}'}); CURRENT=$#words; _helmdeck_memory`,
  ],
  fish: (line) => ["--no-config", "-c", `source ./tab.sh; complete --do-complete '${line}'`],
};

export async function tabIn(
  shell: CompletingShell,
  home: CommandHome,
  line: string,
): Promise<readonly string[]> {
  const bin = join(home.folder, "bin");
  await mkdir(bin, { recursive: true });
  const command = join(bin, "helmdeck-memory");
  await writeFile(command, `#!/bin/sh\nexec "${process.execPath}" "${BUNDLED_COMMAND}" "$@"\n`);
  await chmod(command, 0o755);
  await writeFile(home.path("tab.sh"), COMPLETION_SCRIPTS[shell]);
  const env = { PATH: `${bin}:${process.env.PATH}`, HOME: home.folder, LC_ALL: "C.UTF-8" };
  const { stdout } = await promisify(execFile)(shell, [...ASKING[shell](line)], { cwd: home.folder, env });
  return stdout.split("\n").flatMap((offer) => offer.split("\t")[0] || []);
}
