/** The first line of a backup, in plain text: the store, the key's id, the age. It holds no values and no keys of facts. */

import * as z from "zod/mini";
import { HelmdeckError } from "../../errors.ts";
import { jsonOf } from "../../json.ts";

const FORMAT = "helmdeck-memory backup";
const VERSION = 1;

/** The header's content before sealing. */
export interface BackupFacts {
  /** 32 hexadecimal digits. */
  readonly storeId: string;
  readonly generation: number;
  readonly schemaVersion: number;
  readonly entries: number;
  /** RFC 3339. */
  readonly createdAt: string;
}

export interface BackupHeader extends BackupFacts {
  /** The id of the key that opens it. */
  readonly keyId: string;
  readonly salt: string;
}

const count = z.int().check(z.minimum(0));
const hex = (digits: number) => z.string().check(z.regex(new RegExp(`^[0-9a-f]{${digits}}$`)));
const lineSchema = z.strictObject({
  format: z.literal(FORMAT),
  version: z.literal(VERSION),
  store_id: hex(32),
  generation: count,
  schema: count,
  entries: count,
  key_id: hex(16),
  created_at: z.string().check(z.maxLength(40)),
  salt: hex(32),
});

export function encodeBackupHeader(header: BackupHeader): Buffer {
  const line: z.infer<typeof lineSchema> = {
    format: FORMAT,
    version: VERSION,
    store_id: header.storeId,
    generation: header.generation,
    schema: header.schemaVersion,
    entries: header.entries,
    key_id: header.keyId,
    created_at: header.createdAt,
    salt: header.salt,
  };
  return Buffer.from(`${JSON.stringify(line)}\n`);
}

/** Undefined when this is not a backup of ours; throws `store_newer` for a later format. */
export function parseBackupHeader(text: string, path: string): BackupHeader | undefined {
  const given = jsonOf(text);
  const parsed = lineSchema.safeParse(given);
  if (!parsed.success) {
    const named = z.object({ format: z.literal(FORMAT), version: z.number() }).safeParse(given);
    if (named.success && named.data.version > VERSION)
      throw new HelmdeckError(
        "store_newer",
        `The backup ${path} was made by a later version of this program. Upgrade this program; nothing was changed.`,
        { details: { path } },
      );
    return undefined;
  }
  const { store_id: storeId, schema: schemaVersion, key_id: keyId, created_at: createdAt } = parsed.data;
  const { generation, entries, salt } = parsed.data;
  return { storeId, generation, schemaVersion, entries, keyId, createdAt, salt };
}
