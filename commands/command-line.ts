/** A command line: its name, its commands, and how it finds a memory. There are several; they share the commands. */
import type { Command } from "commander";
import type { Finding } from "../app/memory.ts";
import type { OpenMemoryOptions } from "../app/open-memory-options.ts";
import type { RemoteMemory } from "../app/remote/remote-memory.ts";
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
}

/** Runs the work of a command with its context; the work is imported when it runs. */
export type Runs = (command: Command, work: (context: CommandContext) => Promise<number>) => Promise<void>;

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
  /** The host program's part of doctor and status. */
  readonly host?: HostReport;
}

interface HostReport {
  readonly findings: () => Promise<readonly Finding[]>;
  readonly warnings: () => readonly string[];
}
