/**
 * Reads helmdeck's key from a file or the environment.
 *
 * The key opens every value of the database, so it is never an argument of the command line, which other accounts can see, and no
 * message shows it.
 */
import { createSecretKey, type KeyObject } from "node:crypto";
import { parseEnv } from "node:util";
import { HelmdeckError } from "../../../../engine/errors.ts";

/** helmdeck's name for it. */
export const HELMDECK_KEY_VARIABLE = "HELMDECK_MEMORY_KEY";

const HEX_KEY = /^[0-9a-fA-F]{64}$/;

/** From a file with only the key, or one that sets helmdeck's variable, like its `.env.local`. Throws `key_malformed`. */
export function helmdeckKey(text: string, source: string): KeyObject {
  const hex = [text.trim(), parseEnv(text)[HELMDECK_KEY_VARIABLE] ?? ""].find((found) => HEX_KEY.test(found));
  if (hex !== undefined) return createSecretKey(hex, "hex");
  throw new HelmdeckError(
    "key_malformed",
    `${source} has no helmdeck key. It must hold 64 hexadecimal digits, alone or in a line ${HELMDECK_KEY_VARIABLE}=…, like helmdeck's ` +
      "deploy/compose/.env.local.",
    { details: { source } },
  );
}
