/** Our own JSON Lines, as written by `export`: streamed, of any size. */
import { HelmdeckError, isHelmdeckError } from "../../../engine/errors.ts";
import type { NewEntry } from "../../../engine/store/memory-store.ts";
import { readLines } from "../line-reader.ts";
import { readEntry } from "../lines.ts";
import type { ImportItem, Place, ReadItems } from "./format.ts";

/** More than a value of 64 KiB with every character escaped. */
export const LINE_BYTES = 1_024 * 1_024;

export const readJsonLines: ReadItems = async function* (files, context) {
  for (const { name, open } of files) {
    for await (const line of readLines(open(), LINE_BYTES)) {
      const place = { file: name, line: line.number };
      if ("problem" in line) yield { ...place, problem: lineProblem(line.problem) };
      else yield entryItem(place, () => readEntry(line.text, context));
    }
  }
};

export function lineProblem(problem: string): HelmdeckError {
  return new HelmdeckError("invalid_input", `The line ${problem}.`);
}

/** The item of an entry, or why it is refused. */
export function entryItem(place: Place, read: () => NewEntry): ImportItem {
  try {
    return { ...place, entry: read() };
  } catch (error) {
    if (!isHelmdeckError(error)) throw error;
    return { ...place, problem: error };
  }
}
