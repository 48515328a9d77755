/** What `openclaw helmdeck` does: the commands of `helmdeck-memory` that concern a memory, for the memory of OpenClaw's agents. */
import { InvalidArgumentError } from "commander";
import {
  defined,
  type Finding,
  HelmdeckError,
  nodeSqliteDriver,
  type OpenMemoryOptions,
} from "../app/index.ts";
import {
  type CommandContext,
  type CommandLine,
  MEMORY_COMMANDS,
  runCommandLine,
  thisShell,
} from "../commands/index.ts";
import type { Verdict } from "./identity.ts";
import type { MemorySettings } from "./memory-settings.ts";

const AGENT_RULE =
  "It must be the id of an agent, with a well-formed entry in subjects. Where a served engine keeps memory, it needs a token.";

export interface CliParts {
  /** Where memory lies. Rejects with a HelmdeckError where its key cannot be had. */
  readonly settings: () => Promise<MemorySettings>;
  /** Where another process keeps memory. */
  readonly elsewhere?: NonNullable<CommandLine["elsewhere"]>;
  readonly defaultAgent: string;
  /** Whose memory an agent uses. */
  readonly subjectOf: (agentId: string) => Verdict;
  readonly hostFindings: () => Promise<readonly Finding[]>;
  /** What status says of the host. */
  readonly hostWarnings: () => readonly string[];
}

/** The exit code. Never throws: a failure is said on standard error. */
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
    description: "What helmdeck memory holds for OpenClaw's agents: store, look, search, forget.",
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
    ...defined({ elsewhere: parts.elsewhere }),
    host: { findings: parts.hostFindings, warnings: parts.hostWarnings },
  };
}

function subjectFor(agent: string, { subjectOf }: CliParts): string {
  const verdict = subjectOf(agent);
  if (verdict.ok) return verdict.subject;
  throw new HelmdeckError("invalid_input", `--agent: ${AGENT_RULE}`);
}

/** A command is gone in a moment: it embeds what it is asked to, and leaves the rest to the gateway. */
function memoryOptions(settings: MemorySettings, { shell }: CommandContext): OpenMemoryOptions {
  return { ...settings, driver: nodeSqliteDriver, now: shell.now, sweepEveryMs: 0, embedsEntries: false };
}
