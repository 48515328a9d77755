/** Import of JSON Lines from a stream, which is read once. */
import { readJsonLines } from "./formats/json-lines.ts";
import type { ImportResult } from "./import-counts.ts";
import { type ImportRequest, importFiles } from "./import-files.ts";

export interface ImportOptions
  extends Pick<ImportRequest, "memory" | "subject" | "allowSecrets" | "onConflict" | "onProgress"> {
  /** UTF-8, one JSON object a line; a byte order mark, CRLF and blank lines are fine. */
  readonly input: AsyncIterable<Uint8Array>;
}

/**
 * Of a fact that is there, and of two lines with one key, the one that was written later wins, unless the caller says otherwise; a
 * line that names no time is new. Running an import again changes nothing but the times of such lines.
 *
 * @throws as {@link importFiles} does.
 */
export function importLines({ input, ...options }: ImportOptions): Promise<ImportResult> {
  return importFiles({
    ...options,
    format: "jsonl",
    read: readJsonLines,
    files: [{ name: "input", open: () => input }],
  });
}
