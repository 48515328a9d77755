/**
 * One caller's memory, opened to read for as long as one question takes.
 *
 * Absent memory is an ordinary answer, found at once: no database, nothing stored yet, no key, or somebody else holding it. A
 * memory that is there and cannot be trusted (a wrong key, a damaged file) is an error, since a process that is told "nothing"
 * would go on as if nothing were known. Nothing is made on the way: no folder, no key, no table.
 */
import {
  type Entry,
  findKey,
  isHelmdeckError,
  type KeyPlaces,
  type MemoryReader,
  type Namespace,
  openSqliteReader,
  type SqliteDriver,
} from "../engine/reader.ts";
import type { FactHere, FactsHere } from "./seam-contract.ts";

/** Where memory is, as a surface found it. */
export interface MemoryHere extends KeyPlaces {
  readonly driver: SqliteDriver;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

export type Asked<Answer> =
  | { readonly kind: "answered"; readonly answer: Answer }
  | { readonly kind: "absent"; readonly why: string };

/** Asks memory one question and closes it again. Throws what is neither an answer nor absence. */
export async function askMemory<Answer>(
  place: MemoryHere,
  namespace: Namespace,
  question: (facts: FactsHere) => Promise<Answer>,
): Promise<Asked<Answer>> {
  try {
    const reader = await openReader(place);
    try {
      return { kind: "answered", answer: await question(factsOf(reader, namespace)) };
    } finally {
      await reader.close();
    }
  } catch (error) {
    return { kind: "absent", why: whyAbsent(error) };
  }
}

async function openReader(place: MemoryHere): Promise<MemoryReader> {
  const found = await findKey(place);
  if (found === undefined) throw new Absent("there is neither a key nor a database yet");
  const { driver, databasePath: path, now } = place;
  return openSqliteReader({ path, key: found.key, driver, busyTimeoutMs: 0, ...(now && { now }) });
}

/** The facts of one namespace, and no way to another. */
function factsOf(reader: MemoryReader, namespace: Namespace): FactsHere {
  return {
    listFacts: async (query) => {
      const { entries, unreadable, nextCursor } = await reader.list({ namespace, origin: "fact", ...query });
      return {
        facts: entries.map(factOf),
        unreadable: unreadable.map(({ key }) => key),
        ...(nextCursor !== undefined && { nextCursor }),
      };
    },
  };
}

function factOf({ key, value, category, tags, createdAt, updatedAt }: Entry): FactHere {
  return { key, value: Buffer.from(value).toString(), category, tags, createdAt, updatedAt };
}

class Absent extends Error {}

/** Why there is no memory; throws the error again when there is one. */
function whyAbsent(error: unknown): string {
  if (error instanceof Absent) return error.message;
  if (!isHelmdeckError(error)) throw error;
  if (error.code === "key_missing" || error.code === "store_locked") return error.message;
  if (error.code === "store_unavailable" && error.details.nothingStored === true) return error.message;
  throw error;
}
