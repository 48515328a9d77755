/**
 * Reads helmdeck's database (0.14 to 0.29) with its key: imports facts, runs and notes under their callers, tagged with the
 * import. Skips caches and plans, which only helmdeck uses.
 */
import type { KeyObject } from "node:crypto";
import { HelmdeckError, invalidField, isHelmdeckError } from "../../../../engine/errors.ts";
import { ENTRY_LIMITS } from "../../../../engine/store/entry-rules.ts";
import { namespaceOf, subjectOf } from "../../../../engine/store/namespace.ts";
import type { SqliteConnection } from "../../../../engine/store/sqlite/sqlite-driver.ts";
import { nextTurn } from "../../../../engine/timing.ts";
import { requireSubject } from "../../../subject.ts";
import type { ImportItem, ReadContext, ReadItems } from "../format.ts";
import { type DatabaseCopy, notHelmdecks } from "./database-copy.ts";
import { endOf, entryOf } from "./entries.ts";
import { type OwnerMap, ownerOf, requireKnown } from "./owners.ts";
import { callerOf, hasItsFingerprint, hasRows, kindOf, openValue, type Row, readRows } from "./rows.ts";

/** Rows opened per turn of the event loop. */
const PART_ROWS = 100;

export interface HelmdeckSource {
  readonly key: KeyObject;
  /** The source of the key, for messages. */
  readonly keySource: string;
  readonly owners: OwnerMap;
}

/** Reads the same rows each time, so that the import matches the preview. */
export function helmdeckReader(
  { connection }: Pick<DatabaseCopy, "connection">,
  source: HelmdeckSource,
): ReadItems {
  return async function* (files, context) {
    for (const { name } of files) yield* new RowReader(name, connection, source, context).items();
  };
}

class RowReader {
  readonly #file: string;
  readonly #connection: SqliteConnection;
  readonly #source: HelmdeckSource;
  readonly #context: ReadContext;
  /** Of two rows for one entry, the newer one counts, and it comes first. */
  readonly #given = new Set<string>();

  constructor(file: string, connection: SqliteConnection, source: HelmdeckSource, context: ReadContext) {
    this.#file = file;
    this.#connection = connection;
    this.#source = source;
    this.#context = context;
  }

  async *items(): AsyncGenerator<ImportItem, void, undefined> {
    const rows = this.#rows();
    requireKnown(this.#source.owners, new Set(rows.map(callerOf)));
    this.#requireKey(rows);
    for (const [index, row] of rows.entries()) {
      if (index % PART_ROWS === 0) await nextTurn(); // yields to other work
      yield this.#item(row, index + 1);
    }
  }

  #rows(): readonly Row[] {
    try {
      if (hasRows(this.#connection)) return readRows(this.#connection);
    } catch (error) {
      throw notHelmdecks(this.#file, error);
    }
    throw notHelmdecks(this.#file);
  }

  #requireKey(rows: readonly Row[]): void {
    if (rows.length === 0 || rows.some((row) => this.#open(row) !== undefined)) return;
    throw new HelmdeckError(
      "key_wrong",
      `The key in ${this.#source.keySource} opens none of the ${rows.length} rows in ${this.#file}, so it is the wrong key. Use the ` +
        "HELMDECK_MEMORY_KEY of this helmdeck.",
    );
  }

  #open(row: Row): Buffer | undefined {
    if (row.sizeBytes > ENTRY_LIMITS.valueBytes) return undefined;
    return openValue(this.#connection, row, this.#source.key);
  }

  #item(row: Row, line: number): ImportItem {
    const place = { file: this.#file, line, key: row.key };
    try {
      return { ...place, ...this.#made(row) };
    } catch (error) {
      if (!isHelmdeckError(error)) throw error;
      return { ...place, problem: error };
    }
  }

  #made(row: Row) {
    const kind = kindOf(row);
    if (kind === "cache") return { leftOut: "a cached answer" };
    if (kind === "plan") return { leftOut: "a record of a plan" };
    if ((endOf(row) ?? Number.POSITIVE_INFINITY) <= this.#context.now) return { leftOut: "an expired row" };
    if (row.sizeBytes > ENTRY_LIMITS.valueBytes)
      throw invalidField("value", `has ${row.sizeBytes} bytes, which is too large`);
    const value = this.#open(row);
    if (value === undefined) return { leftOut: "a row that the key does not open" };
    if (!hasItsFingerprint(row, value)) throw changed();
    const from = callerOf(row);
    const namespace = namespaceOf(
      requireSubject(ownerOf(this.#source.owners, from, subjectOf(this.#context.namespace))),
    );
    const entry = entryOf({ row, value, namespace, kind }, this.#context);
    const ref = JSON.stringify([namespace, entry.origin, entry.key]);
    if (this.#given.has(ref)) return { leftOut: "an older row with the same name" };
    this.#given.add(ref);
    return { entry, noteOf: "", from };
  }
}

function changed(): HelmdeckError {
  return new HelmdeckError(
    "entry_unreadable",
    "Its fingerprint does not match its content, so the row was changed by something other than helmdeck.",
  );
}
