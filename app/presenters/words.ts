/** Words for people: the beginning of a value, and numbers of things. */

import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import { cutText } from "../../engine/projections/frame.ts";
import type { StoredCounts } from "../memory.ts";

export const NOTHING_STORED = "Nothing has been stored yet.";

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

/** `12 facts, none matched; helmdeck/my-memory.md lists them.` `listing`: the end of the sentence. */
export function unmatchedText({ facts, auditRows }: StoredCounts, listing: string): string {
  const there = [
    ...(facts === 0 ? [] : [counted(facts, "fact")]),
    ...(auditRows === 0 ? [] : [`${counted(auditRows, "record")} of tool runs`]),
  ];
  return there.length === 0 ? NOTHING_STORED : `${there.join(" and ")}, none matched; ${listing}.`;
}
