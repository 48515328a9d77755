/** A text as one word of a command that a person copies into a shell. */
import { harmlessLine } from "../../engine/index.ts";

const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** Quoted for a POSIX shell where that is needed. Only for what {@link isCopyable}. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Whether it is the same when it has been shown and copied, and no program takes it for an option. */
export function isCopyable(text: string): boolean {
  return harmlessLine(text) === text && !text.startsWith("-");
}
