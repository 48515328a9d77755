/** `helmdeck-memory install`: runs this package's install.sh with the same flags and exit code, in the same terminal. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type Command, Option } from "commander";
import type { Runs } from "../../commands/command-line.ts";
import { EXIT_FAILED } from "../../commands/exit-codes.ts";
import { nonEmpty, refusePlace, withExamples } from "../../commands/option-parsers.ts";
import { PUSHES, type PushChoice } from "../clients/client-settings.ts";

/** Declares `helmdeck-memory install`, which takes the installer's own flags. */
export function declareInstall(program: Command, runs: Runs): void {
  const install = program
    .command("install")
    .summary("Install memory in OpenClaw, or uninstall it.")
    .description(
      "Install memory in OpenClaw and check that it works, or uninstall it. This runs install.sh: helmdeck-memory install --help lists its options.",
    )
    .argument("[flags...]", "Options of install.sh.")
    .allowUnknownOption()
    .action((flags: readonly string[], _options: unknown, command: Command) => {
      refusePlace(command);
      return runs(command, async ({ options }) =>
        runInstaller([...flags, ...(options.json ? ["--json"] : [])]),
      );
    });
  withExamples(install, [
    "helmdeck-memory install --dry-run",
    "helmdeck-memory install --no-embeddings",
    "helmdeck-memory install --uninstall",
    "helmdeck-memory install claude",
  ]);
  declareClaude(install, runs);
}

function namesMemory(command: Command): boolean {
  const names = ["caller", "db", "store", "engine", "tokenFile"];
  return names.some((name) => command.getOptionValueSourceWithGlobals(name) === "cli");
}

function declareClaude(install: Command, runs: Runs): void {
  const claude = install
    .command("claude")
    .summary("Install memory in Claude Code, or take it out.")
    .description(
      "Install memory in Claude Code: its tools, a skill that says when to store, and, if you agree, facts at the start of each session. --caller and --db say whose memory, for all sessions. Run it again for other choices; what no option names stays as it was.",
    )
    .addOption(
      new Option(
        "--push <what>",
        "What is put into sessions unasked: nothing, pinned facts and those of the project at the start, or also sure answers to prompts. Default: as before; the first time it asks on a terminal, and elsewhere it is nothing.",
      ).choices(Object.keys(PUSHES)),
    )
    .option("--engine <url>", "Use the memory of a served engine.", nonEmpty)
    .option("--token-file <file>", "With --engine: the file with its token.", nonEmpty)
    .option("--uninstall", "Take it out again; your memory stays.")
    .action((_options: unknown, command: Command) => {
      const { uninstall, ...request } = command.opts<ClaudeOptions>();
      return runs(command, async (context) => {
        const { installClient, uninstallClient } = await import("./install-client.ts");
        if (uninstall === true) return uninstallClient(context, "claude");
        return installClient(context, { client: "claude", namesMemory: namesMemory(command), ...request });
      });
    });
  withExamples(claude, [
    "helmdeck-memory install claude --push start",
    "helmdeck-memory install claude --caller claude-code --push prompts",
    "helmdeck-memory install claude --uninstall",
  ]);
}

interface ClaudeOptions {
  readonly push?: PushChoice;
  readonly engine?: string;
  readonly tokenFile?: string;
  readonly uninstall?: boolean;
}

/** The same relative path from this file and from the build's dist/chunks. */
const SCRIPT = fileURLToPath(new URL("../../install/install.sh", import.meta.url));

export async function runInstaller(flags: readonly string[]): Promise<number> {
  const { env, execPath } = process;
  // So that commands in the installer's messages can be typed as shown.
  const called = env.npm_command === "exec" ? "npx helmdeck-memory install" : "helmdeck-memory install";
  const installer = spawn("sh", [SCRIPT, ...flags], {
    env: { ...env, HELMDECK_NODE: execPath, HELMDECK_INSTALLER: called },
    stdio: "inherit",
  });
  // Ctrl-C reaches the installer directly, which ends first; other signals reach only this process.
  process.on("SIGINT", () => {});
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => installer.kill(signal));
  const [code] = await once(installer, "exit");
  return typeof code === "number" ? code : EXIT_FAILED;
}
