/** What an import refuses, and what it says when it stops halfway. */
import { HelmdeckError, isHelmdeckError } from "../../engine/errors.ts";
import { kindOfSecret, refuseSecrets } from "../../engine/facts/secrets.ts";
import type { NewEntry } from "../../engine/store/memory-store.ts";
import type { ImportItem } from "./formats/format.ts";
import type { RefusedLine } from "./import-counts.ts";

/** A key may be refused for its length. */
const MOST_KEY_CHARACTERS = 512;

/** Also in its former values. */
export async function refuseSecretsIn(entry: NewEntry): Promise<void> {
  for (const { value, ...names } of [entry, ...(entry.history ?? [])]) {
    await refuseSecrets({ ...names, value: Buffer.from(value).toString() });
  }
}

/** `isOnlyFile`: its name need not be repeated. */
export async function refusalOf(
  item: ImportItem,
  { code, message }: HelmdeckError,
  isOnlyFile: boolean,
): Promise<RefusedLine> {
  const file = isOnlyFile ? {} : { file: item.file };
  return { ...file, line: item.line, ...(await nameOf(item)), code, reason: message };
}

/** The key itself may be refused for the credential in it. */
async function nameOf({ key }: ImportItem): Promise<{ readonly key?: string }> {
  if (key === undefined || (await kindOfSecret(key)) !== undefined) return {};
  return { key: key.slice(0, MOST_KEY_CHARACTERS) };
}

/** `known`: for JSON Lines, the last imported line; for notes, the scope that undoes the import. */
export function interrupted(error: unknown, known: number | string | undefined): unknown {
  if (!isHelmdeckError(error)) return error;
  const isLine = typeof known === "number";
  const far = isLine
    ? `Everything up to line ${known} was imported, and nothing after it`
    : "Some items may have been imported";
  const back = typeof known === "string" ? ` To undo it, forget ${known}.` : "";
  const details = { ...error.details, ...(isLine && { safeLine: known }) };
  const message = `${error.message} ${far}; import the file again to continue.${back}`;
  return new HelmdeckError(error.code, message, { details, cause: error });
}
