/** Reads a whole file: with a size limit, and as UTF-8. */
import { HelmdeckError } from "../../../engine/errors.ts";
import type { ImportFile } from "./format.ts";

/** Throws `invalid_input` as soon as the limit is exceeded. A character that is cut off at the end does not matter. */
export async function readWhole(
  { name, open }: ImportFile,
  mostMib: number,
  { isDamageKept = false } = {},
): Promise<string> {
  const parts: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const part of open()) {
    sizeBytes += part.byteLength;
    if (sizeBytes > mostMib * 1_024 * 1_024) {
      throw new HelmdeckError(
        "invalid_input",
        `${name} is larger than the limit of ${mostMib} MiB; split it.`,
      );
    }
    parts.push(Buffer.from(part));
  }
  const text = decoded(Buffer.concat(parts), !isDamageKept);
  // UTF-16 without a byte order mark is valid UTF-8 with NUL characters.
  if (text === undefined || text.includes("\0")) {
    throw new HelmdeckError("invalid_input", `${name} is not UTF-8 text. Convert it to UTF-8 first.`);
  }
  return text;
}

function decoded(bytes: Uint8Array, fatal: boolean): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}
