/**
 * Reads the settings of `serve` from where they stand, and gives other code the environment and options that they mean.
 *
 * Threat: another account that can change the settings file names secrets, a database and code of its own; a file that a program made
 * never ends, or unfolds to more than memory holds. Defence: engine/given-file.ts, and no references (aliases) within a file.
 */
import type { Command } from "commander";
import { LineCounter, parseDocument } from "yaml";
import type { CommandContext } from "../commands/command-line.ts";
import { systemCodeOf } from "../engine/errors.ts";
import { PathGuard, readGivenFile } from "../engine/given-file.ts";
import {
  CONFIG_VARIABLE,
  type ReadSettings,
  resolveSettings,
  SERVE_SETTINGS,
  type SettingProblem,
  typedOptions,
} from "./serve-settings.ts";

/** A larger file is no settings file. */
const MOST_FILE_BYTES = 65_536;

export interface ServeSettings extends ReadSettings {
  /** The settings file; absent: there is none. */
  readonly file?: string;
  /** With the environment and options that the settings mean. */
  readonly context: CommandContext;
}

/** Reads the file anew each time. Never throws for what an operator can set. */
export async function readServeSettings(context: CommandContext, command: Command): Promise<ServeSettings> {
  const { env } = context.shell;
  const path: string | undefined = command.opts().config ?? (env[CONFIG_VARIABLE] || undefined);
  const { entries, problems } = path === undefined ? { entries: {}, problems: [] } : await readEntries(path);
  const resolved = resolveSettings({ options: typedOptions(command), env, file: entries });
  return {
    settings: resolved.settings,
    problems: [...problems, ...resolved.problems],
    ...(path !== undefined && { file: path }),
    context: contextWith(context, resolved),
  };
}

interface Entries {
  readonly entries: Readonly<Record<string, unknown>>;
  readonly problems: readonly SettingProblem[];
}

async function readEntries(path: string): Promise<Entries> {
  const read = await readGivenFile(path, MOST_FILE_BYTES);
  if ("problem" in read) return unusable(path, `It ${read.problem}.`);
  const { problem } = await new PathGuard()
    .examine(path)
    .catch((error: unknown) => ({ problem: { path, rule: `cannot be inspected (${systemCodeOf(error)})` } }));
  if (problem !== undefined) return unusable(problem.path, `It ${problem.rule}.`);
  return parseEntries(path, read.text);
}

/** The parser's own words quote the text, so only the line's number is told. */
function parseEntries(path: string, text: string): Entries {
  const lines = new LineCounter();
  let entries: unknown;
  try {
    const quiet = { prettyErrors: false, logLevel: "error" } as const;
    const document = parseDocument(text, { lineCounter: lines, stringKeys: true, ...quiet });
    const [error] = document.errors;
    if (error !== undefined)
      return unusable(path, `Line ${lines.linePos(error.pos[0]).line} is not valid YAML: write name: value.`);
    entries = document.toJS({ maxAliasCount: 0 });
  } catch {
    return unusable(path, "It has a reference to another value (*name): write each value out.");
  }
  if (entries === null) return { entries: {}, problems: [] };
  if (typeof entries !== "object" || Array.isArray(entries))
    return unusable(path, "It is not a list of settings: write each on a line of its own, as name: value.");
  return { entries: { ...entries }, problems: [] };
}

function unusable(path: string, problem: string): Entries {
  return { entries: {}, problems: [{ where: path, problem }] };
}

/** What other code reads from variables and options, without knowing of the file. */
function contextWith(context: CommandContext, { settings }: ReadSettings): CommandContext {
  const env: Record<string, string | undefined> = { ...context.shell.env };
  for (const [name, { isOfAllCommands, env: variable, instead = [] }] of Object.entries(SERVE_SETTINGS)) {
    const { value, from } = settings.get(name) ?? {};
    if (!isOfAllCommands || value === undefined || from === "environment") continue;
    env[variable] = String(value);
    for (const other of instead) delete env[other];
  }
  const { value: store, from } = settings.get("store") ?? {};
  const isNamed = from === "file" && context.options.db === undefined;
  const options = isNamed ? { ...context.options, store: String(store) } : context.options;
  return { ...context, shell: { ...context.shell, env }, options };
}
