/** `openclaw helmdeck`: the memory commands of `helmdeck-memory`, for the memory of OpenClaw's agents. */
import { InvalidArgumentError } from "commander";
import type { Finding } from "../app/memory.ts";
import type { OpenMemoryOptions } from "../app/open-memory-options.ts";
import type { OpenClawPlace } from "../app/traces/openclaw-place.ts";
import type { CommandContext, CommandLine } from "../commands/command-line.ts";
import { MEMORY_COMMANDS } from "../commands/memory-commands.ts";
import { runCommandLine } from "../commands/run-program.ts";
import { thisShell } from "../commands/shell.ts";
import { defined } from "../engine/defined.ts";
import { HelmdeckError } from "../engine/errors.ts";
import { nodeSqliteDriver } from "../engine/store/sqlite/node-sqlite-driver.ts";
import type { Verdict } from "./identity.ts";
import type { MemorySettings } from "./memory-settings.ts";

const AGENT_RULE =
  "Give the id of an agent whose entry in subjects, if any, is well-formed. If a server keeps memory, the agent needs a token.";

export interface CliParts {
  /** The storage location and settings. Rejects with a HelmdeckError if the key cannot be read. */
  readonly settings: () => Promise<MemorySettings>;
  /** Opens the memory that another process keeps. */
  readonly remote?: NonNullable<CommandLine["remote"]>;
  readonly defaultAgent: string;
  /** The subject of an agent. */
  readonly subjectOf: (agentId: string) => Verdict;
  /** Where the host keeps its notes and conversations. */
  readonly openClaw: () => OpenClawPlace;
  readonly hostFindings: () => Promise<readonly Finding[]>;
  /** Warnings about the host, for status. */
  readonly hostWarnings: () => readonly string[];
}

/** Resolves to the exit code. Never rejects; failures are written to standard error. */
export function runHelmdeck(args: readonly string[], parts: CliParts, shell = thisShell()): Promise<number> {
  return runCommandLine(args, shell, helmdeckLine(parts));
}

/** The command line for this memory. */
export function helmdeckLine(parts: CliParts): CommandLine {
  const agentId = (typed: string): string => {
    if (!parts.subjectOf(typed).ok) throw new InvalidArgumentError(AGENT_RULE);
    return typed;
  };
  return {
    name: "openclaw helmdeck",
    description: "Store, list, search and forget in the helmdeck memory of OpenClaw's agents.",
    commands: MEMORY_COMMANDS,
    examples: [
      'openclaw helmdeck store deploy/konflux "We deploy through Konflux, never by hand"',
      'openclaw helmdeck search "konflux deployment preference"',
      "openclaw helmdeck list --agent work",
    ],
    declareShared: (root) =>
      void root.option("--agent <id>", "Whose memory: the id of an agent.", agentId, parts.defaultAgent),
    readShared: ({ json, agent }) => ({ json: json === true, caller: subjectFor(String(agent), parts) }),
    memoryOptions: async (context) => memoryOptions(await parts.settings(), context),
    ...defined({ remote: parts.remote }),
    openClaw: async () => parts.openClaw(),
    host: { findings: parts.hostFindings, warnings: parts.hostWarnings },
  };
}

function subjectFor(agent: string, { subjectOf }: CliParts): string {
  const verdict = subjectOf(agent);
  if (verdict.ok) return verdict.subject;
  throw new HelmdeckError("invalid_input", `--agent: ${AGENT_RULE}`);
}

/** A command is short-lived: it embeds only what it needs, and leaves the rest to the gateway. */
function memoryOptions(settings: MemorySettings, { shell }: CommandContext): OpenMemoryOptions {
  return { ...settings, driver: nodeSqliteDriver, now: shell.now, sweepEveryMs: 0, embedsEntries: false };
}
