/** Reports a failed command: one line with a code and a remedy, and an exit code; never a stack trace. */
import { CommanderError } from "commander";
import { errorReply } from "../app/wire/error-reply.ts";
import { type ErrorCode, isHelmdeckError, systemCodeOf } from "../engine/errors.ts";
import { harmlessLine } from "../engine/facts/hostile-text.ts";
import type { Output } from "./output.ts";

export const EXIT_DONE = 0;
export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;

interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: Readonly<Record<string, string | number | boolean>>;
  readonly exitCode: number;
}

/** What was asked: `help` names the command whose help explains it, and is `command` if no command was recognized. */
export interface Asked {
  readonly command: string;
  readonly help: string;
  readonly json: boolean;
}

/** Writes the failure to stderr (with `json` as one JSON object) and returns the exit code. */
export async function reportFailure(
  error: unknown,
  output: Output,
  { command, help, json }: Asked,
): Promise<number> {
  const failure = failureOf(error, { command, help });
  if (json) await output.noteJson(errorReply(failure));
  else await output.note(output.failure(failure));
  return failure.exitCode;
}

function failureOf(error: unknown, { command, help }: Omit<Asked, "json">): Failure {
  if (error instanceof CommanderError) {
    // Commander's messages repeat the typed text, which may be the value to store (unquoted, or beginning with "-"). So a message
    // is kept only if it names our own options and arguments.
    const said = error.message.replace(/^error: /, "").replaceAll(/\s+/g, " ");
    const message = `${withoutWhatWasTyped(error.code, said)} See ${help} --help.`;
    return { code: "invalid_input", message, details: {}, exitCode: EXIT_USAGE };
  }
  if (isHelmdeckError(error)) {
    const { code, message, details } = error;
    return { code, message: harmlessLine(message), details, exitCode: EXIT_FAILED };
  }
  // Our own files fail with our own errors, so any other failed write is a standard stream.
  if (error instanceof Error && "syscall" in error && error.syscall === "write") {
    const message = `The output is incomplete: standard output cannot be written (${systemCodeOf(error)}). Write it to another place.`;
    return { code: "invalid_input", message, details: {}, exitCode: EXIT_FAILED };
  }
  return { code: "internal", message: internalMessage(error, command), details: {}, exitCode: EXIT_FAILED };
}

function withoutWhatWasTyped(code: string, said: string): string {
  switch (code) {
    case "commander.unknownOption": {
      const name = /^unknown option '(--[a-z][a-z-]{1,30})(?:'|=)/.exec(said)?.[1];
      const option = name === undefined ? "an unknown option" : `the unknown option '${name}'`;
      return `The command has ${option}${suggestion(said)}; a value that begins with "-" goes after "--".`;
    }
    case "commander.unknownCommand": {
      const name = /^unknown command '([a-z][a-z-]{1,30})'/.exec(said)?.[1];
      const meant = name && Object.hasOwn(MEANT_BY, name) ? MEANT_BY[name] : undefined;
      const hint = meant === undefined ? suggestion(said) : ` (did you mean ${meant}?)`;
      return `There is no such command${name === undefined ? "" : `: '${name}'`}${hint}.`;
    }
    case "commander.excessArguments": {
      const counts = /^too many arguments for '[a-z-]+'\. Expected \d+ arguments? but got \d+/.exec(
        said,
      )?.[0];
      return `${sentence(counts ?? "too many arguments")}; put quotes around a value of several words.`;
    }
    case "commander.invalidArgument": {
      const [, option = "An option", rule = "is invalid."] =
        /^option '([^']+)' argument '.*' is invalid\. (.*)$/.exec(said) ??
        /^command-argument value '.*' is invalid for argument '([^']+)'\. (.*)$/.exec(said) ??
        [];
      return `${option}: ${rule}`;
    }
    default:
      return sentence(said.endsWith(".") ? said : `${said}.`);
  }
}

/** Common guesses at command names; commander itself suggests similar spellings. */
const MEANT_BY: Readonly<Record<string, string>> = {
  ...{ remember: "store", save: "store", set: "store", put: "store", new: "store" },
  ...{ show: "get", cat: "get", read: "get", find: "search", query: "search", recall: "search" },
  ...{ remove: "forget", delete: "forget", del: "forget", clear: "forget", update: "edit", change: "edit" },
  ...{ check: "doctor", info: "status", log: "history", revert: "undo", dump: "export", load: "import" },
};

function suggestion(said: string): string {
  const name = /\(Did you mean (?:one of )?([a-z, -]+)\?\)$/.exec(said)?.[1];
  return name === undefined ? "" : ` (did you mean ${name}?)`;
}

function sentence(said: string): string {
  return said.charAt(0).toUpperCase() + said.slice(1);
}

/** Only the error's class and system code: the message of a foreign error may quote its input. */
function internalMessage(error: unknown, command: string): string {
  const name = error instanceof Error ? error.constructor.name : typeof error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const kind = /^[A-Z][A-Z0-9_]{1,40}$/.test(code) ? `${name}, ${code}` : name;
  return `An unexpected error occurred (${kind}). Run ${command} doctor. If it finds nothing, please report this.`;
}
