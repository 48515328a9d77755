/**
 * helmdeck's key, as it stands in a file or in the environment.
 *
 * It opens every value of the database, so it is never a word of the command line, which other accounts can see, and no message
 * shows any of it.
 */
import { createSecretKey, type KeyObject } from "node:crypto";
import { parseEnv } from "node:util";
import { HelmdeckError } from "../../../../engine/index.ts";

/** As helmdeck names it. */
export const HELMDECK_KEY_VARIABLE = "HELMDECK_MEMORY_KEY";

const HEX_KEY = /^[0-9a-fA-F]{64}$/;

/** Of a file with nothing else, or one that sets helmdeck's variable, as its `.env.local` does. Throws `key_malformed`. */
export function helmdeckKey(text: string, source: string): KeyObject {
  const hex = [text.trim(), parseEnv(text)[HELMDECK_KEY_VARIABLE] ?? ""].find((found) => HEX_KEY.test(found));
  if (hex !== undefined) return createSecretKey(hex, "hex");
  throw new HelmdeckError(
    "key_malformed",
    `${source} holds no key of helmdeck's: 64 hexadecimal digits alone, or a line ${HELMDECK_KEY_VARIABLE}=… with them, such as its ` +
      "deploy/compose/.env.local has.",
    { details: { source } },
  );
}
