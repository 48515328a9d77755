/**
 * A key that a command prints, so that a vault, a key service or a password manager can hold it.
 *
 * Who attacks: blanks and quotes in a line that a shell would take apart; a command that hangs, fails, or prints more than a key.
 * What stops them: the setting is a JSON list of the program and its arguments, no shell reads it; time and output are bounded;
 * what it prints is a key or is not shown. Who runs it is passed in: a host's plugin runs no commands.
 */
import { HelmdeckError } from "../errors.ts";
import { type MasterKey, parseKey } from "./master-key.ts";

/** Runs a program without a shell and answers what it printed; rejects when it fails, hangs or prints too much. */
export type RunCommand = (argv: readonly [string, ...string[]]) => Promise<string>;

const SETTING = "HELMDECK_MEMORY_KEY_COMMAND";

/** Throws `key_unreadable`, `key_missing` where it printed nothing, `key_malformed`. */
export async function keyFromCommand(setting: string, run: RunCommand | undefined): Promise<MasterKey> {
  const argv = parseArgv(setting);
  if (run === undefined) throw notHere();
  const [name] = argv;
  const printed = await run(argv).catch((error: unknown) => {
    throw unreadable(`the command ${name} ${whyOf(error)}. Run it yourself to see what it says`, {
      command: name,
    });
  });
  const text = printed.trim();
  if (text === "") throw printedNothing(name);
  return parseKey(text, `What the command ${name} of ${SETTING} printed`);
}

export function nameOfCommand(setting: string): string {
  return `${SETTING} (${parseArgv(setting)[0]})`;
}

function parseArgv(setting: string): readonly [string, ...string[]] {
  const [name, ...rest] = listOf(setting);
  if (name === undefined || name === "") throw notAList();
  return [name, ...rest];
}

function listOf(setting: string): readonly string[] {
  try {
    const parsed: unknown = JSON.parse(setting);
    if (Array.isArray(parsed) && parsed.every((part) => typeof part === "string")) return parsed;
  } catch {
    // Said below, without what was set: it may hold a token.
  }
  throw notAList();
}

/** Of our own words: a system's message repeats arguments, and these may be secrets. */
function whyOf(error: unknown): string {
  if (!(error instanceof Error)) return "failed";
  if ("killed" in error && error.killed === true) return "did not end in time";
  const code = "code" in error ? error.code : undefined;
  if (typeof code === "number") return `ended with exit code ${code}`;
  if (code === "ENOENT") return "is not there";
  return code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER" ? "printed more than a key" : "could not be run";
}

function notAList(): HelmdeckError {
  return unreadable(
    'it must be a JSON list of the program and its arguments, such as ["vault", "kv", "get", "-field=key", "secret/memory"]',
  );
}

function notHere(): HelmdeckError {
  return unreadable(
    "no command is run here. In OpenClaw, refer to it by a SecretRef (source exec) in encryptionKey of the plugin's configuration",
  );
}

function printedNothing(name: string): HelmdeckError {
  return new HelmdeckError(
    "key_missing",
    `The command ${name} of ${SETTING} printed no key. It must print the 64 hexadecimal digits on its standard output.`,
    { details: { command: name } },
  );
}

function unreadable(why: string, details: { readonly command?: string } = {}): HelmdeckError {
  return new HelmdeckError("key_unreadable", `${SETTING}: ${why}.`, { details });
}
