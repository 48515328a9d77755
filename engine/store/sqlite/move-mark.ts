/**
 * The mark of a SQLite store that was moved away or is incomplete: a schema version that no program knows, and a row with
 * details.
 */
import type { MoveMark } from "../moving/movable-store.ts";
import type { SqliteSession } from "./sqlite-session.ts";

/** Added to the schema version, so that even a program without support for moves refuses the file as too new. */
const OFFSETS = { away: 1_000_000, incoming: 2_000_000 } as const;

/** Undefined for a schema without a mark. */
export function markIn(session: SqliteSession, version: number): MoveMark | undefined {
  if (version < OFFSETS.away) return undefined;
  const row = session.statement("SELECT place, at FROM moved").get();
  const kind = version < OFFSETS.incoming ? "away" : "incoming";
  return { kind, place: `${row?.place}`, at: Number(row?.at) };
}

/** Call it in a write transaction; undefined removes the mark. */
export function writeMark(session: SqliteSession, schema: number, mark: MoveMark | undefined): void {
  session.connection.exec("DROP TABLE IF EXISTS moved");
  session.connection.exec(`PRAGMA user_version = ${schema + (mark === undefined ? 0 : OFFSETS[mark.kind])}`);
  session.forgetStatements();
  if (mark === undefined) return;
  session.connection.exec("CREATE TABLE moved (place TEXT NOT NULL, at INTEGER NOT NULL) STRICT");
  session.statement("INSERT INTO moved (place, at) VALUES (?, ?)").run(mark.place, mark.at);
}
