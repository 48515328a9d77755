/** Formats a text as one word of a shell command to copy. */
import { harmlessLine } from "../../engine/facts/hostile-text.ts";

const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** Quotes it for a POSIX shell if needed. Only for a line without hidden characters, as by {@link isCopyable}. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Whether it survives display and copying unchanged, and cannot be mistaken for an option. */
export function isCopyable(text: string): boolean {
  return harmlessLine(text) === text && !text.startsWith("-");
}
