/**
 * The secret that signs tokens, from the environment or a file.
 *
 * Threat: another account that can read the secret (see app/secret-file.ts), and guessing of a short secret. Defence: fewer
 * than 32 bytes are refused, and no message shows any part of the secret.
 */

import { readSecretFile } from "../app/secret-file.ts";
import { HelmdeckError } from "../engine/errors.ts";
import { LEAST_SECRET_BYTES } from "./tokens.ts";

const VARIABLE = "HELMDECK_JWT_SECRET";
const FILE_VARIABLE = "HELMDECK_JWT_SECRET_FILE";

export interface LoadedSecret {
  readonly bytes: Uint8Array;
  /** The variable or the file's path, for the start-up line. */
  readonly source: string;
}

/**
 * Undefined if neither HELMDECK_JWT_SECRET nor HELMDECK_JWT_SECRET_FILE is set. The secret is the raw bytes of the variable or
 * of the file, without one final line end of the file. Throws `key_unreadable` and `key_malformed`.
 */
export async function loadSecret(
  env: Readonly<Record<string, string | undefined>>,
): Promise<LoadedSecret | undefined> {
  const value = env[VARIABLE];
  const path = env[FILE_VARIABLE];
  if (value !== undefined && path !== undefined) {
    throw malformed(`${VARIABLE} and ${FILE_VARIABLE} are both set`, "keep one of them");
  }
  if (value !== undefined) return { bytes: requireLong(Buffer.from(value), VARIABLE), source: VARIABLE };
  if (path !== undefined) return { bytes: requireLong(await readSecretFile(path), path), source: path };
  return undefined;
}

function requireLong(bytes: Uint8Array, source: string): Uint8Array {
  if (bytes.byteLength >= LEAST_SECRET_BYTES) return bytes;
  throw malformed(
    `${source} has ${bytes.byteLength} bytes, and a secret for tokens needs ${LEAST_SECRET_BYTES}`,
    "make one with: openssl rand -hex 32",
  );
}

function malformed(what: string, remedy: string): HelmdeckError {
  return new HelmdeckError("key_malformed", `${what}; ${remedy}.`);
}
