/** Parsers of options and arguments with their error messages, and helpers for declarations. */
import { type Command, InvalidArgumentError } from "commander";
import { DAY_OR_TIME, readTime } from "../engine/rfc3339.ts";

/** Examples are written for `helmdeck-memory` and shown with the name of the actual command line. */
export function withExamples(command: Command, examples: readonly string[]): Command {
  return command.addHelpText("after", ({ command: shown }) => {
    const name = rootOf(shown).name();
    const lines = examples.map((example) => `  $ ${example.replaceAll("helmdeck-memory", name)}`);
    return `\nExamples:\n${lines.join("\n")}`;
  });
}

function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent);
}

export function nonEmpty(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("It must not be empty.");
  return text;
}

export function count(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError("It must be a whole number from 1.");
  return Number(text);
}

export function seconds(text: string): number {
  const parsed = parseSeconds(text);
  if (parsed === undefined)
    throw new InvalidArgumentError("Write seconds or a span such as 90m, 12h, 30d, 4w.");
  return parsed;
}

export function collect(tag: string, before: readonly string[] = []): readonly string[] {
  return [...before, tag];
}

const SECONDS_PER: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/**
 * A time span as typed: `90d`, `12h`, or plain seconds.
 *
 * Whole seconds, or undefined if the text is not a time span. The facts policy checks the bounds.
 */
export function parseSeconds(text: string): number | undefined {
  const match = /^(\d{1,10})([smhdw]?)$/.exec(text);
  if (match === null) return undefined;
  return Number(match[1]) * (SECONDS_PER[match[2] ?? ""] ?? 1);
}

/** What the argument of a command about one fact may be. */
export const FACT_NAME = "The fact's exact key, or a hit's path, docid or citation.";

export const AS_OF =
  "What memory said on that day or at that time, without what was forgotten, undone or has expired since.";

/** A day as typed means its end: what was said on it. */
export function asOfMoment(text: string): string {
  return momentOf(text, "T23:59:59.999");
}

/** A day as typed means its beginning. */
export function sinceMoment(text: string): string {
  return momentOf(text, "T00:00:00");
}

/** In milliseconds since 1970. */
export function sinceTime(text: string): number {
  return Date.parse(sinceMoment(text));
}

/** In RFC 3339, with the offset of this machine's zone where none is typed: by it, memory knows which day it was here. */
function momentOf(text: string, ofDay: string): string {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}${ofDay}` : text;
  const moment = /Z|[+-]\d\d:\d\d$/i.test(time) ? time : `${time}${offsetAt(Date.parse(time))}`;
  if (readTime(moment) !== undefined) return moment;
  throw new InvalidArgumentError(`Write ${DAY_OR_TIME}.`);
}

function offsetAt(at: number): string {
  const east = -new Date(at).getTimezoneOffset();
  const [hours, minutes] = [Math.trunc(Math.abs(east) / 60), Math.abs(east) % 60];
  return `${east < 0 ? "-" : "+"}${`${hours}`.padStart(2, "0")}:${`${minutes}`.padStart(2, "0")}`;
}

/** For a command that opens no memory. */
export function refusePlace(command: Command): void {
  const { db, store } = command.optsWithGlobals();
  if (db !== undefined || store !== undefined)
    command.error(`${command.name()} opens no memory: leave out --db and --store.`);
}
