/**
 * The secret that signs tokens, from the environment or a file.
 *
 * Who attacks: another account that can read the secret, and someone who guesses a short one. What stops them: a file that
 * group or others may write, or that others may read, is refused; fewer than 32 bytes are refused; no message shows any of
 * it. Container secrets, which are mounted readable for all within the container, are taken when they are on a mount of
 * their own below /run/secrets.
 */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { HelmdeckError } from "../app/index.ts";
import { LEAST_SECRET_BYTES } from "./tokens.ts";

const VARIABLE = "HELMDECK_JWT_SECRET";
const FILE_VARIABLE = "HELMDECK_JWT_SECRET_FILE";
/** Larger is no secret but a file named by mistake. */
const MOST_FILE_BYTES = 4_096;
const OTHERS = 0o077;
const CONTAINER_SECRETS = "/run/secrets/";

export interface LoadedSecret {
  readonly bytes: Uint8Array;
  /** For the start-up line: the variable, or the file's path. */
  readonly source: string;
}

/**
 * Undefined when neither HELMDECK_JWT_SECRET nor HELMDECK_JWT_SECRET_FILE is set. Of the variable the raw bytes count; of
 * the file as well, but for one line end at its end. Throws `key_unreadable` and `key_malformed`.
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

async function readSecretFile(path: string): Promise<Uint8Array> {
  // Without O_NONBLOCK, opening a named pipe would wait for someone to write into it.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((cause: unknown) => {
    throw unreadable(path, "cannot be opened; check its path, owner and mode", cause);
  });
  try {
    const { size, mode, ...stats } = await handle.stat().then((all) => ({
      size: all.size,
      mode: all.mode & 0o777,
      isFile: all.isFile(),
    }));
    if (!stats.isFile) throw unreadable(path, "is not a plain file");
    if (size > MOST_FILE_BYTES) throw unreadable(path, `has ${size} bytes; this is something else`);
    if ((mode & OTHERS) !== 0 && !path.startsWith(CONTAINER_SECRETS)) {
      throw unreadable(path, `is accessible to other accounts (mode 0${mode.toString(8)}): chmod 600 it`);
    }
    return withoutLineEnd(await handle.readFile());
  } finally {
    await handle.close();
  }
}

function withoutLineEnd(bytes: Buffer): Buffer {
  const text = bytes.toString("latin1");
  return Buffer.from(text.replace(/\r?\n$/, ""), "latin1");
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

function unreadable(path: string, why: string, cause?: unknown): HelmdeckError {
  return new HelmdeckError("key_unreadable", `The secret file ${path} ${why}.`, {
    details: { path },
    cause,
  });
}
