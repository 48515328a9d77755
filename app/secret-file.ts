/**
 * Reads an operator's secret from a file: the signing secret of tokens, the key of an embedding service.
 *
 * The attacker is another account that can read the file. So a file with any access for group or others is refused, and no
 * message shows its content. Below /run/secrets and /run/credentials, where containers and systemd mount secrets for one process
 * with wider modes, files are accepted.
 */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { HelmdeckError } from "../engine/errors.ts";

/** A larger file is not a secret but a mistake. */
const MOST_FILE_BYTES = 4_096;
const OTHERS = 0o077;
const MOUNTED_SECRETS = /^\/run\/(secrets|credentials)\/(?!.*\.\.)/;

/** The bytes without one trailing line break. Throws `key_unreadable`. */
export async function readSecretFile(path: string): Promise<Uint8Array> {
  const text = (await readPrivateFile(path, MOST_FILE_BYTES)).toString("latin1");
  return Buffer.from(text.replace(/\r?\n$/, ""), "latin1");
}

/** All bytes. Throws `key_unreadable`. */
export async function readPrivateFile(path: string, mostBytes: number): Promise<Buffer> {
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((cause: unknown) => {
    throw unreadable(path, "cannot be opened; check its path, owner and mode", cause);
  });
  try {
    const { size, mode, ...stats } = await handle.stat().then((all) => ({
      size: all.size,
      mode: all.mode & 0o777,
      isFile: all.isFile(),
    }));
    if (!stats.isFile) throw unreadable(path, "is not a regular file");
    if (size > mostBytes) throw unreadable(path, `has ${size} bytes; this is not a secret file`);
    if ((mode & OTHERS) !== 0 && !MOUNTED_SECRETS.test(path)) {
      throw unreadable(
        path,
        `is accessible to other accounts (mode 0${mode.toString(8)}); run chmod 600 on it`,
      );
    }
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

function unreadable(path: string, why: string, cause?: unknown): HelmdeckError {
  return new HelmdeckError("key_unreadable", `The secret file ${path} ${why}.`, {
    details: { path },
    cause,
  });
}
