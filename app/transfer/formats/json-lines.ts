/** Our own JSON Lines, as written by `export`: streamed, of any size. */
import { HelmdeckError, isHelmdeckError } from "../../../engine/errors.ts";
import { readLines } from "../line-reader.ts";
import { readEntry } from "../lines.ts";
import type { ImportItem, Place, ReadContext, ReadItems } from "./format.ts";

/** More than a value of 64 KiB with every character escaped. */
export const LINE_BYTES = 1_024 * 1_024;

export const readJsonLines: ReadItems = async function* (files, context) {
  for (const { name, open } of files) {
    for await (const line of readLines(open(), LINE_BYTES)) {
      const place = { file: name, line: line.number };
      if ("problem" in line) yield { ...place, problem: lineProblem(line.problem) };
      else yield* itemsOfLine(place, line.text, context);
    }
  }
};

export function lineProblem(problem: string): HelmdeckError {
  return new HelmdeckError("invalid_input", `The line ${problem}.`);
}

/** Within a string of JSON, the quotes would be escaped. */
const PIN = /"pinned"\s*:\s*true/;

/** An entry, or why it is refused; and its pin, which is left out. */
export function itemsOfLine(place: Place, line: string, context: ReadContext): readonly ImportItem[] {
  try {
    const item = { ...place, entry: readEntry(line, context) };
    return PIN.test(line) ? [item, { ...place, leftOut: "pins: pin again what matters" }] : [item];
  } catch (error) {
    if (!isHelmdeckError(error)) throw error;
    return [{ ...place, problem: error }];
  }
}
