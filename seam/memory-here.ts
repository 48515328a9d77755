/**
 * Opens one caller's memory read-only, for a single query.
 *
 * Absent memory is a normal, immediate answer: no database, nothing stored yet, no key, or a lock. An existing memory that
 * cannot be trusted (a wrong key, a damaged file) is an error, because a process that gets "nothing" would continue as if
 * nothing were known. Nothing is created: no folder, no key, no table.
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

/** The storage location, from the calling surface. */
export interface MemoryHere extends KeyPlaces {
  readonly driver: SqliteDriver;
  /** Opens a database on a server to read, in place of the one at `databasePath`. */
  readonly openServer?: () => Promise<MemoryReader>;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

export type Asked<Answer> =
  | { readonly kind: "answered"; readonly answer: Answer }
  | { readonly kind: "absent"; readonly why: string };

/** Runs one query over a caller's facts. Throws like {@link askReader}. */
export function askMemory<Answer>(
  place: MemoryHere,
  namespace: Namespace,
  question: (facts: FactsHere) => Promise<Answer>,
): Promise<Asked<Answer>> {
  return askReader(place, (reader) => question(factsOf(reader, namespace)));
}

/** Runs one query and closes memory again. Throws any error that does not mean absence. */
export async function askReader<Answer>(
  place: MemoryHere,
  question: (reader: MemoryReader) => Promise<Answer>,
): Promise<Asked<Answer>> {
  try {
    const reader = await openReader(place);
    try {
      return { kind: "answered", answer: await question(reader) };
    } finally {
      await reader.close();
    }
  } catch (error) {
    return { kind: "absent", why: whyAbsent(error) };
  }
}

async function openReader(place: MemoryHere): Promise<MemoryReader> {
  if (place.openServer !== undefined) return place.openServer();
  const found = await findKey(place);
  if (found === undefined) throw new Absent("there is no key and no database yet");
  const { driver, databasePath: path, now } = place;
  return openSqliteReader({ path, key: found.key, driver, busyTimeoutMs: 0, ...(now && { now }) });
}

/** The facts of one namespace, without access to others. */
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

/** Why there is no memory; rethrows the error if memory exists. */
function whyAbsent(error: unknown): string {
  if (error instanceof Absent) return error.message;
  if (!isHelmdeckError(error)) throw error;
  if (error.code === "key_missing" || error.code === "store_locked") return error.message;
  if (error.code === "store_unavailable" && error.details.nothingStored === true) return error.message;
  throw error;
}
