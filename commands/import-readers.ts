/** Readers of import files. helmdeck's database needs its key and a mapping of callers, and may lack its log. */
import type { KeyObject } from "node:crypto";
import type { ImportFile, ReadItems } from "../app/transfer/formats/format.ts";
import { openCopy } from "../app/transfer/formats/helmdeck/database-copy.ts";
import { HELMDECK_KEY_VARIABLE, helmdeckKey } from "../app/transfer/formats/helmdeck/key.ts";
import { parseOwners } from "../app/transfer/formats/helmdeck/owners.ts";
import { helmdeckReader } from "../app/transfer/formats/helmdeck/read-helmdeck.ts";
import type { ImportFormat, KnownRule } from "../app/transfer/formats/names.ts";
import { READERS } from "../app/transfer/formats/readers.ts";
import { HelmdeckError, invalidField } from "../engine/errors.ts";
import type { ConflictRule } from "../engine/store/memory-store.ts";
import type { CommandContext } from "./command-line.ts";
import { inputSource, readText } from "./input.ts";

/** An `.env` file with a key in it. */
const MOST_KEY_FILE_BYTES = 64 * 1_024;

/** The options of `import`. */
export interface ImportOrder {
  readonly files: readonly string[];
  readonly from?: ImportFormat;
  /** This and the next three options are for helmdeck's database. */
  readonly keyFile?: string;
  /** Each `FROM=TO`. */
  readonly map: readonly string[];
  readonly stopped: boolean;
  readonly dryRun: boolean;
  /** The preview is complete. */
  readonly showAll: boolean;
  readonly yes: boolean;
  readonly ttlSeconds?: number;
  /** For notes. */
  readonly category?: string;
  /** Import texts even if they look like credentials. */
  readonly allowSecrets: boolean;
  readonly onConflict: ConflictRule;
  /** Absent: both are kept, unless a person who sees a preview says otherwise. */
  readonly onKnown?: KnownRule;
}

type Asked = Pick<ImportOrder, "category" | "files" | "keyFile" | "map" | "stopped" | "dryRun" | "yes">;

interface Reader {
  readonly read: ReadItems;
  readonly close: () => Promise<void>;
}

/** Throws `invalid_input` for an option that is for another format. */
export function refuseMisplaced(format: ImportFormat, { category, keyFile, map, stopped }: Asked): void {
  if (category !== undefined && (format === "helmdeck" || format === "jsonl"))
    throw invalidField("--category", "is only for notes, whose entries have no category of their own");
  if (format === "helmdeck") return;
  const given = [keyFile !== undefined && "--key-file", map.length > 0 && "--map", stopped && "--stopped"];
  const misplaced = given.find((option) => option !== false);
  if (misplaced !== undefined) throw invalidField(misplaced, "is only for --from helmdeck");
}

/** Throws `invalid_input`, and the errors of reading a key. */
export async function readerFor(
  context: CommandContext,
  format: ImportFormat,
  order: Asked,
): Promise<Reader> {
  if (format === "helmdeck") return databaseReader(context, order);
  return { read: READERS[format], close: async () => {} };
}

async function databaseReader(context: CommandContext, order: Asked): Promise<Reader> {
  const [name, ...others] = order.files;
  if (name === undefined || name === "-" || others.length > 0) {
    throw invalidField("file", "must be the path of one database, with its log next to it", {
      named: "--from helmdeck",
    });
  }
  const owners = parseOwners(order.map);
  const source = await keyOf(context, order.keyFile);
  const copy = await openCopy(name);
  try {
    if (copy.lacksLog && !order.stopped) await doubt(context, name, order);
  } catch (error) {
    await copy.close();
    throw error;
  }
  return { read: helmdeckReader(copy, { ...source, owners }), close: copy.close };
}

/** Warns a person who sees a preview; refuses otherwise. */
async function doubt({ output }: CommandContext, name: string, { yes, dryRun }: Asked): Promise<void> {
  const found = `There is no log (${name}-wal) next to ${name}, or it is empty. This is correct if helmdeck was stopped before the file was copied`;
  const danger = "If helmdeck was running, copy both files; otherwise recently forgotten facts return.";
  if (yes && !dryRun) throw new HelmdeckError("invalid_input", `${found}; then pass --stopped. ${danger}`);
  await output.note(`${found}. ${danger}`);
}

async function keyOf(
  { shell }: CommandContext,
  keyFile: string | undefined,
): Promise<{ readonly key: KeyObject; readonly keySource: string }> {
  if (keyFile !== undefined) {
    const source = inputSource(shell, keyFile);
    const text = await readText(source, MOST_KEY_FILE_BYTES);
    return { key: helmdeckKey(text, source.name), keySource: source.name };
  }
  const text = shell.env[HELMDECK_KEY_VARIABLE];
  if (text) return { key: helmdeckKey(text, HELMDECK_KEY_VARIABLE), keySource: HELMDECK_KEY_VARIABLE };
  throw new HelmdeckError(
    "key_missing",
    `helmdeck's database needs its own key: pass --key-file with a file that has its ${HELMDECK_KEY_VARIABLE} (deploy/compose/.env.local ` +
      "if you used its installer).",
  );
}

const MOST_MIB = 64;

/**
 * Keeps files in memory after the first read, so that the import is exactly what the person approved. Throws `invalid_input` as soon as the files exceed the limit.
 */
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
