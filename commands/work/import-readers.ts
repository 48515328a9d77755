/** What reads the files of an import. helmdeck's database wants its key, says whose its rows are, and may lack its log. */
import type { KeyObject } from "node:crypto";
import {
  HELMDECK_KEY_VARIABLE,
  helmdeckKey,
  helmdeckReader,
  openCopy,
  parseOwners,
  READERS,
} from "../../app/import-formats.ts";
import { HelmdeckError, type ImportFormat, invalidField, type ReadItems } from "../../app/index.ts";
import type { CommandContext } from "../command-line.ts";
import { inputSource, readText } from "../input.ts";
import type { ImportOrder } from "./import-order.ts";

/** An `.env` file with a key in it. */
const MOST_KEY_FILE_BYTES = 64 * 1_024;

type Asked = Pick<ImportOrder, "files" | "keyFile" | "map" | "stopped" | "dryRun" | "yes">;

interface Reader {
  readonly read: ReadItems;
  readonly close: () => Promise<void>;
}

/** Throws `invalid_input`, and what reading a key throws. */
export async function readerFor(
  context: CommandContext,
  format: ImportFormat,
  order: Asked,
): Promise<Reader> {
  if (format === "helmdeck") return databaseReader(context, order);
  const { keyFile, map, stopped } = order;
  const given = [keyFile !== undefined && "--key-file", map.length > 0 && "--map", stopped && "--stopped"];
  const misplaced = given.find((option) => option !== false);
  if (misplaced !== undefined) throw invalidField(misplaced, "is for --from helmdeck");
  return { read: READERS[format], close: async () => {} };
}

async function databaseReader(context: CommandContext, order: Asked): Promise<Reader> {
  const [name, ...others] = order.files;
  if (name === undefined || name === "-" || others.length > 0) {
    throw invalidField("file", "wants the path of one database, beside which its log lies", {
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

/** A person who is shown the import first is told, and decides. */
async function doubt({ output }: CommandContext, name: string, { yes, dryRun }: Asked): Promise<void> {
  const found = `There is no log (${name}-wal) beside ${name}, or an empty one. If helmdeck was stopped before the file was taken, that is right`;
  const danger = "Of a helmdeck that runs, copy both files, or what was forgotten last comes back.";
  if (yes && !dryRun) throw new HelmdeckError("invalid_input", `${found}: say --stopped. ${danger}`);
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
    `helmdeck's database opens with its own key: give --key-file, a file with its ${HELMDECK_KEY_VARIABLE} (deploy/compose/.env.local ` +
      "where its installer was used).",
  );
}
