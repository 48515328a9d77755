/** Imports JSON Lines from a stream, which is read once. */
import { readJsonLines } from "../../app/transfer/formats/json-lines.ts";
import type { ImportResult } from "../../app/transfer/import-counts.ts";
import { type ImportRequest, importFiles } from "../../app/transfer/import-files.ts";

export interface ImportOptions
  extends Pick<ImportRequest, "memory" | "subject" | "allowSecrets" | "onConflict" | "onProgress"> {
  /** UTF-8, one JSON object per line; a byte order mark, CRLF and blank lines are accepted. */
  readonly input: AsyncIterable<Uint8Array>;
}

/**
 * The fact written later wins by default, against an existing fact and between two lines with one key; a line without a time
 * counts as new. Repeating an import only changes the times of such lines.
 *
 * @throws like {@link importFiles}.
 */
export function importLines({ input, ...options }: ImportOptions): Promise<ImportResult> {
  return importFiles({
    ...options,
    format: "jsonl",
    read: readJsonLines,
    files: [{ name: "input", open: () => input }],
  });
}
