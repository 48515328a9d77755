/** Keeps files in memory after the first read, so that the import is exactly what the person approved. */

import type { ImportFile } from "../app/transfer/formats/format.ts";
import { HelmdeckError } from "../engine/errors.ts";

const MOST_MIB = 64;

/** Throws `invalid_input` as soon as the files exceed the limit. */
export async function bufferFiles(files: readonly ImportFile[]): Promise<readonly ImportFile[]> {
  const held: ImportFile[] = [];
  let leftBytes = MOST_MIB * 1_024 * 1_024;
  for (const { name, open } of files) {
    const parts: Uint8Array[] = [];
    for await (const part of open()) {
      leftBytes -= part.byteLength;
      if (leftBytes < 0) throw tooMuch();
      parts.push(Buffer.from(part));
    }
    held.push({ name, open: () => piecesOf(parts) });
  }
  return held;
}

async function* piecesOf(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}

function tooMuch(): HelmdeckError {
  return new HelmdeckError(
    "invalid_input",
    `These files hold more than ${MOST_MIB} MiB, which is the limit for a preview. Use --dry-run to see a preview, then import with --yes.`,
  );
}
