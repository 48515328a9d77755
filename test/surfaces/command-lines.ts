/** Both command lines over one memory, run in this process. */
import { Command } from "commander";
import type { Memory, StorageLocation } from "../../app/index.ts";
import { subjectOf } from "../../plugin/identity.ts";
import type { CliContext } from "../../plugin/openclaw-api.ts";
import { registerHelmdeckCli } from "../../plugin/openclaw-cli.ts";
import { runPiped, type Seen } from "../cli/terminal.ts";
import { accessTo } from "../plugin/fake-memory.ts";

/** `helmdeck-memory <args>` in a script. */
export function helmdeckMemory(
  { databasePath, keyPath }: StorageLocation,
  [command = "", ...args]: readonly string[],
): Promise<Seen> {
  const env = { HELMDECK_MEMORY_KEY_FILE: keyPath };
  return runPiped([command, "--db", databasePath, ...args], { homeFolder: "/nowhere", env });
}

/** `openclaw helmdeck <args>` in a script; the default agent uses the memory of `subject`. */
export async function openclawHelmdeck(
  memory: Memory,
  args: readonly string[],
  subject = "main",
): Promise<Seen> {
  let [code, stdout, stderr] = [0, "", ""];
  const program = new Command().exitOverride();
  // OpenClaw brings its own copy of commander, of the same interface.
  registerHelmdeckCli(program as unknown as CliContext["program"], {
    open: () => accessTo(memory).open(),
    close: async () => {},
    defaultAgent: "main",
    subjectOf: (agentId) => subjectOf(agentId, new Map([["main", subject]])),
    hostFindings: async () => [],
    hostWarnings: () => [],
    terminal: {
      out: (text) => {
        stdout += `${text}\n`;
      },
      err: (text) => {
        stderr += `${text}\n`;
      },
      ask: undefined,
      fail: (exitCode) => {
        code = exitCode;
      },
      now: Date.now,
    },
  });
  await program.parseAsync(["helmdeck", ...args], { from: "user" });
  return { code, stdout, stderr };
}
