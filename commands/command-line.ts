/** What a command line is: its name, its commands, whose memory it asks and where that lies. There are several; the commands are shared. */
import type { Command } from "commander";
import type { Finding, OpenMemory, OpenMemoryOptions } from "../app/index.ts";
import type { Output } from "./output.ts";
import type { Shell } from "./shell.ts";

/** The options that every command has, as they were understood. */
interface SharedOptions {
  readonly json?: boolean;
  /** Whose memory. */
  readonly caller: string;
  /** Another database, where that can be asked for. */
  readonly db?: string;
  /** The address of a database on a server, likewise. */
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
  /** As it is typed, such as `helmdeck-memory`. */
  readonly name: string;
  readonly description: string;
  /** Where it has one of its own. */
  readonly version?: string;
  readonly commands: readonly Declare[];
  readonly examples: readonly string[];
  /** Declares the options that all its commands have. */
  readonly declareShared: (root: Command) => void;
  /** Reads them. Throws `invalid_input`. */
  readonly readShared: (given: Readonly<Record<string, unknown>>) => SharedOptions;
  /** Throws where not even the place of memory or its key can be told. */
  readonly memoryOptions: (context: CommandContext) => Promise<OpenMemoryOptions>;
  /** A memory that another process keeps: asked first, and undefined where this one opens it. Throws `invalid_input`. */
  readonly elsewhere?: () => Promise<OpenMemory | undefined>;
  /** What the program that it belongs to adds to doctor and status. */
  readonly host?: HostReport;
}

interface HostReport {
  readonly findings: () => Promise<readonly Finding[]>;
  readonly warnings: () => readonly string[];
}
