/** Words for people: the beginning of a value, and numbers of things. */

import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import { cutText } from "../../engine/projections/frame.ts";

/** Escaped, on one line; at most this many UTF-16 units, in whole words if possible; "…" marks a cut. */
export function firstWords(value: string, most = 80): string {
  const line = harmlessLine(
    cutText(value, 4 * most)
      .replaceAll(/\s+/g, " ")
      .trim(),
  );
  if (line.length <= most && value.length <= 4 * most) return line;
  const cut = cutText(line, most - 1);
  const lastSpace = cut.lastIndexOf(" ");
  return `${lastSpace > most / 2 ? cut.slice(0, lastSpace) : cut}…`;
}

/** `1 fact`, `12 facts` */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
