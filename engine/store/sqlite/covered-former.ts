/**
 * Finds former values by their names: lists them, and erases those that a scope covers from the histories of remaining facts.
 *
 * Their names are sealed, so every history is opened, in slices. Histories that were written meanwhile are checked again by the
 * transaction that deletes the entries; after that, no covered value can enter a history.
 */
import { formerCursor, formerKeyOf, isCoveredAlone, mayCoverFormer } from "../../rules/history.ts";
import type { EntryFilter, FormerKeysPage, FormerKeysQuery } from "../memory-store.ts";
import type { Sealer } from "../sealing.ts";
import { all, liveCondition, type Moment, namespaceCondition, ownerCondition } from "./conditions.ts";
import { type FoundRow, formerAfter, formerOfWritten } from "./former-rows.ts";
import type { SqliteSession } from "./sqlite-session.ts";

const ROWS_AT_ONCE = 200;

interface Parts {
  readonly session: SqliteSession;
  readonly sealer: Sealer;
}

/** Call it in a read transaction. */
export function readFormerKeys(
  parts: Parts,
  { namespace, cursor }: FormerKeysQuery,
  moment: Moment,
): FormerKeysPage {
  const meant = all([namespaceCondition(namespace), liveCondition(moment)]);
  const after = cursor === undefined ? Number.MIN_SAFE_INTEGER : formerCursor(cursor);
  const rows = formerAfter(parts, after, ROWS_AT_ONCE, meant);
  const keys = rows.flatMap(formerKeyOf);
  const last = rows.at(-1);
  return rows.length < ROWS_AT_ONCE || last === undefined ? { keys } : { keys, nextCursor: `${last.number}` };
}

/** One pass over all histories. */
export class CoveredRun {
  readonly #parts: Parts;
  readonly #filter: EntryFilter;
  #after = Number.MIN_SAFE_INTEGER;
  /** The last sequence number when the slices began. */
  #since: number | undefined;
  #erased = 0;
  readonly #newer = new Set<string>();

  constructor(parts: Parts, filter: EntryFilter) {
    this.#parts = parts;
    this.#filter = filter;
  }

  /** Former values erased so far. */
  get erased(): number {
    return this.#erased;
  }

  /** Keys of facts that were written after the filter's bound, so that covered values stay in their histories. */
  get newer(): readonly string[] {
    return [...this.#newer];
  }

  /** Runs a transaction; one that fails has erased nothing. */
  attempt<T>(transaction: () => T): T {
    const [after, erased] = [this.#after, this.#erased];
    try {
      return transaction();
    } catch (error) {
      [this.#after, this.#erased] = [after, erased];
      throw error;
    }
  }

  /** Erases until `mayGoOn` returns false; returns true when nothing is left. Call it in a write transaction. */
  slice(mayGoOn: () => boolean, lastSeq: number): boolean {
    this.#since ??= lastSeq;
    for (;;) {
      const rows = this.#next();
      for (const row of rows) {
        this.#erase(row);
        if (!mayGoOn()) return false;
      }
      if (rows.length < ROWS_AT_ONCE) return true;
    }
  }

  /**
   * Checks all histories if there are few, or those written since the slices began; call it in the transaction that deletes
   * entries. Returns false, having done nothing, when there are many and no slices ran.
   */
  finish(): boolean {
    if (!mayCoverFormer(this.#filter)) return true;
    const rows =
      this.#since === undefined
        ? this.#next()
        : formerOfWritten(this.#parts, this.#since, ownerCondition(this.#filter));
    if (this.#since === undefined && rows.length === ROWS_AT_ONCE) return false;
    for (const row of rows) this.#erase(row);
    return true;
  }

  #next(): readonly FoundRow[] {
    return formerAfter(this.#parts, this.#after, ROWS_AT_ONCE, ownerCondition(this.#filter));
  }

  #erase(found: FoundRow): void {
    const { number, isMeant, of } = found;
    this.#after = number;
    if (!isMeant || !isCoveredAlone(found, this.#filter)) return;
    const { upTo = of.revision } = this.#filter;
    if (of.revision > upTo) {
      this.#newer.add(of.key);
      return;
    }
    this.#parts.session.statement("DELETE FROM history WHERE number = ?").run(number);
    this.#erased += 1;
  }
}
