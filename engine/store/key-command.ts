/**
 * Gets the key from a command's output, so that a vault, a key service or a password manager can hold it.
 *
 * Dangers: spaces and quotes in a line that a shell would split; a command that hangs, fails, or prints more than a key. So the
 * setting is a JSON list of the program and its arguments, and no shell reads it; time and output are limited; the output is used
 * as a key and never shown. The caller provides the runner: a host's plugin runs no commands.
 */
import { HelmdeckError } from "../errors.ts";
import { type MasterKey, parseKey } from "./master-key.ts";

/** Runs a program without a shell and returns its output; rejects when it fails, hangs or prints too much. */
export type RunCommand = (argv: readonly [string, ...string[]]) => Promise<string>;

const SETTING = "HELMDECK_MEMORY_KEY_COMMAND";

/** Throws `key_unreadable`, `key_missing` when it prints nothing, `key_malformed`. */
export async function keyFromCommand(setting: string, run: RunCommand | undefined): Promise<MasterKey> {
  const argv = parseArgv(setting);
  if (run === undefined) throw notHere();
  const [name] = argv;
  const printed = await run(argv).catch((error: unknown) => {
    throw unreadable(`the command ${name} ${whyOf(error)}. Run it in a shell to see its output`, {
      command: name,
    });
  });
  const text = printed.trim();
  if (text === "") throw printedNothing(name);
  return parseKey(text, `The output of the command ${name} in ${SETTING}`);
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
    // Reported below without the setting's value: it may hold a token.
  }
  throw notAList();
}

/** In our own words: a system message repeats arguments, which may be secrets. */
function whyOf(error: unknown): string {
  if (!(error instanceof Error)) return "failed";
  if ("killed" in error && error.killed === true) return "did not finish in time";
  const code = "code" in error ? error.code : undefined;
  if (typeof code === "number") return `ended with exit code ${code}`;
  if (code === "ENOENT") return "was not found";
  return code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER" ? "printed more than a key" : "could not be run";
}

function notAList(): HelmdeckError {
  return unreadable(
    'it must be a JSON list of the program and its arguments, such as ["vault", "kv", "get", "-field=key", "secret/memory"]',
  );
}

function notHere(): HelmdeckError {
  return unreadable(
    "this process runs no commands. In OpenClaw, use a SecretRef (source exec) in encryptionKey of the plugin's configuration",
  );
}

function printedNothing(name: string): HelmdeckError {
  return new HelmdeckError(
    "key_missing",
    `The command ${name} in ${SETTING} printed no key. It must print the 64 hexadecimal digits to standard output.`,
    { details: { command: name } },
  );
}

function unreadable(why: string, details: { readonly command?: string } = {}): HelmdeckError {
  return new HelmdeckError("key_unreadable", `${SETTING}: ${why}.`, { details });
}
