/** A command line: its name, its commands, and how it finds a memory and answers. There are several; they share the commands. */
import type { Command } from "commander";
import type { AuditAction, AuditObject } from "../app/audit-log.ts";
import type { Finding } from "../app/memory.ts";
import type { OpenMemoryOptions } from "../app/open-memory-options.ts";
import type { Presented, Voice } from "../app/presenters/presented.ts";
import type { RemoteMemory } from "../app/remote/remote-memory.ts";
import type { OpenClawPlace } from "../app/traces/openclaw-place.ts";
import { HelmdeckError } from "../engine/errors.ts";
import type { Output } from "./output.ts";
import type { Shell } from "./shell.ts";

/** The parsed options that every command has. */
interface SharedOptions {
  readonly json?: boolean;
  /** The subject whose memory is used. */
  readonly caller: string;
  /** Another database file, if the command line supports it. */
  readonly db?: string;
  /** The address of a database on a server, if the command line supports it. */
  readonly store?: string;
}

export interface CommandContext {
  readonly shell: Shell;
  readonly output: Output;
  readonly options: SharedOptions;
  readonly line: CommandLine;
  /** Notes to write after the answer. */
  readonly later: string[];
  /** Says what the command acts on, for its line in the audit log; absent: it has none. */
  readonly found?: (object: AuditObject) => void;
}

/**
 * Runs the work of a command with its context; the work is imported when it runs. `action`: of an operator, which the audit log
 * records.
 */
export type Runs = (
  command: Command,
  work: (context: CommandContext) => Promise<number>,
  action?: AuditAction,
) => Promise<void>;

export type Declare = (program: Command, runs: Runs) => void;

export interface CommandLine {
  /** The command as typed, such as `helmdeck-memory`. */
  readonly name: string;
  readonly description: string;
  /** Absent if it has no own version. */
  readonly version?: string;
  readonly commands: readonly Declare[];
  readonly examples: readonly string[];
  /** Declares the options of all its commands. */
  readonly declareShared: (root: Command) => void;
  /** Parses them. Throws `invalid_input`. */
  readonly readShared: (given: Readonly<Record<string, unknown>>) => SharedOptions;
  /** Throws if the storage location or the key cannot be determined. */
  readonly memoryOptions: (context: CommandContext) => Promise<OpenMemoryOptions>;
  /** A memory that another process keeps. Called first; undefined if this process opens the memory. Throws `invalid_input`. */
  readonly remote?: () => Promise<RemoteMemory | undefined>;
  /** Where OpenClaw keeps its notes and conversations. */
  readonly openClaw: (context: CommandContext) => Promise<OpenClawPlace>;
  /** The host program's part of doctor and status. */
  readonly host?: HostReport;
}

interface HostReport {
  readonly findings: () => Promise<readonly Finding[]>;
  readonly warnings: () => readonly string[];
}

/** The texts and colours of a command line. */
export function voiceOf({ shell, output, options, line }: CommandContext): Voice {
  return {
    command: line.name,
    storing: `Store one: ${line.name} store KEY VALUE`,
    caller: options.caller,
    now: shell.now(),
    style: (format, text) => output.styled(format, text),
  };
}

export async function present({ output }: CommandContext, { answer, notes }: Presented): Promise<void> {
  for (const line of answer) await output.line(line);
  for (const note of notes) await output.note(note);
}

/** The error for a missing fact. It does not repeat the key, because messages end up in logs. */
export function missingFact({ options: { caller }, line }: CommandContext): HelmdeckError {
  const message = `There is no fact with this key in the memory of ${caller}. Keys must match exactly, including case: ${line.name} list shows them, search finds facts by words.`;
  return new HelmdeckError("not_found", message, { details: { caller } });
}
