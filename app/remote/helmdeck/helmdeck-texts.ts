/** What is said about a running helmdeck: features that it lacks, and how much of its memory is known here. */
import { HelmdeckError } from "../../../engine/errors.ts";
import type { HeldRows } from "../../memory.ts";
import type { ServerWords } from "../engine/engine-failures.ts";

export const A_HELMDECK: ServerWords = {
  named: "The helmdeck",
  kind: "a helmdeck",
  program: "helmdeck's control plane",
  saysWhy: "see its log",
};

/** `what`: follows "it ", such as "keeps no history". */
export function notThere(url: string, what: string): HelmdeckError {
  return new HelmdeckError("method_not_allowed", `The helmdeck at ${url} keeps this memory, and it ${what}.`);
}

const MINUTE_MS = 60_000;

/** `312 of 5,012 rows, read less than a minute ago` */
export function extentText({ rows, of, readAt, isWhole, leftOut }: HeldRows, now: number): string {
  const minutes = Math.floor(Math.max(0, now - readAt) / MINUTE_MS);
  const age =
    minutes === 0
      ? "less than a minute"
      : minutes === 1
        ? "a minute"
        : `${minutes.toLocaleString("en-GB")} minutes`;
  const counted = isWhole
    ? `all ${count(rows)} rows that helmdeck shows`
    : `${count(rows)} of ${count(of)} rows`;
  const odd =
    leftOut === 0 ? "" : `; ${count(leftOut)} ${leftOut === 1 ? "fact" : "facts"} cannot be shown here`;
  return `${counted}, read ${age} ago${odd}`;
}

/** Undefined when nothing is missing; otherwise a note for search results. */
export function partText(extent: HeldRows, now: number): string | undefined {
  if (extent.isWhole && extent.leftOut === 0) return undefined;
  return `helmdeck shows only a part of this memory at a time. Searched: ${extentText(extent, now)}.`;
}

function count(number: number): string {
  return number.toLocaleString("en-GB");
}
