/**
 * The database's tables, the mark that identifies our files, the mark of a store that was moved away or is incomplete (a schema
 * version that no program knows, and a row with details), and the migrations of older files.
 */
import { HelmdeckError } from "../../errors.ts";
import { ALL_COLUMNS, ENTRY_COLUMNS, placesFor } from "../fields.ts";
import type { SealingKeys } from "../key-ring.ts";
import { type MoveMark, movedError } from "../moving/movable-store.ts";
import type { SqliteSession } from "./sqlite-session.ts";

/** "HDMM" in the file's header distinguishes our databases from all others. */
export const APPLICATION_ID = 0x48444d4d;

/** All migrations in order; the database's user_version counts those that were applied. */
const MIGRATIONS: readonly string[] = [
  `
  -- One row per entry. It moves to a new seq with each write, so that a reader who remembers the last seq it saw finds
  -- everything that changed since. Every column but sealed is clear, and all of them authenticate sealed.
  CREATE TABLE entries (
    seq        INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    namespace  TEXT NOT NULL,
    origin     TEXT NOT NULL,
    key        TEXT NOT NULL,
    category   TEXT NOT NULL,
    tags       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    expires_at INTEGER,
    digest     BLOB NOT NULL,
    sealed     BLOB NOT NULL,
    UNIQUE (namespace, origin, key)
  ) STRICT;
  -- For listing, newest first; the columns after id let rows be passed over, and counted, without reading them.
  CREATE INDEX entries_by_time ON entries (namespace, updated_at DESC, id, origin, category, expires_at);
  -- For the change feed: within a namespace the index is in the order of seq, which is the rowid.
  CREATE INDEX entries_by_change ON entries (namespace);
  CREATE INDEX entries_by_expiry ON entries (expires_at) WHERE expires_at IS NOT NULL;

  -- What was removed lately, for the change feed.
  CREATE TABLE removals (
    seq       INTEGER PRIMARY KEY,
    namespace TEXT NOT NULL,
    id        TEXT NOT NULL
  ) STRICT;
  CREATE INDEX removals_by_change ON removals (namespace);

  -- One row about the store itself. Removals up to pruned_through have been forgotten, in so many prunes.
  CREATE TABLE store (
    one            INTEGER PRIMARY KEY CHECK (one = 1),
    key_check      BLOB NOT NULL,
    last_seq       INTEGER NOT NULL,
    pruned_through INTEGER NOT NULL,
    prunes         INTEGER NOT NULL
  ) STRICT;

  PRAGMA application_id = ${APPLICATION_ID};
  `,
  `
  -- What can be compared with what: a model with all that its vectors depend on.
  CREATE TABLE vector_spaces (
    number INTEGER PRIMARY KEY,
    name   TEXT NOT NULL UNIQUE
  ) STRICT;

  -- What a model made of an entry's present value. Sealed beside the entry's id, namespace and digest, which stand in the
  -- entry's own row alone.
  CREATE TABLE vectors (
    entry_id   TEXT NOT NULL,
    space      INTEGER NOT NULL,
    dimensions INTEGER NOT NULL,
    sealed     BLOB NOT NULL,
    PRIMARY KEY (entry_id, space)
  ) STRICT;
  CREATE INDEX vectors_by_space ON vectors (space);
  -- In the database, so that it also holds for a program that does not know of vectors and had the file open before.
  CREATE TRIGGER vectors_end_with_entry AFTER DELETE ON entries
    BEGIN DELETE FROM vectors WHERE entry_id = OLD.id; END;
  `,
  `
  -- Random, and this store's own: what is sealed beside it cannot be carried to another store of the same key.
  ALTER TABLE store ADD COLUMN id BLOB;
  UPDATE store SET id = randomblob(16);
  -- How often a backup was put in this store's place, and when the log was last folded into the database.
  ALTER TABLE store ADD COLUMN generation INTEGER NOT NULL DEFAULT 1;
  ALTER TABLE store ADD COLUMN folded_at INTEGER NOT NULL DEFAULT 0;
  -- What the clock has shown, as one line of text: a wrong clock must not delete anything.
  CREATE TABLE time_seen (
    one  INTEGER PRIMARY KEY CHECK (one = 1),
    seen TEXT NOT NULL
  ) STRICT;

  -- What a model made of the program's own reference texts: the last few models' only. Sealed beside the store's id.
  CREATE TABLE reference_vectors (
    number     INTEGER PRIMARY KEY,
    space      TEXT NOT NULL UNIQUE,
    dimensions INTEGER NOT NULL,
    sealed     BLOB NOT NULL
  ) STRICT;
  `,
  `
  -- A program that knows less than this schema finds no last_seq, and so writes nothing any longer into a file it has open.
  ALTER TABLE store RENAME COLUMN last_seq TO newest_seq;
  -- While the key is being changed: how to tell the former one, and each of the two sealed under the other.
  ALTER TABLE store ADD COLUMN former_check BLOB;
  ALTER TABLE store ADD COLUMN former_key BLOB;
  ALTER TABLE store ADD COLUMN new_key BLOB;
  -- While rows of the first envelope are here: a mark of the key's that they may be.
  ALTER TABLE store ADD COLUMN legacy BLOB;

  -- What a key held before, the newest with the highest number. It ends with its entry.
  CREATE TABLE history (
    number     INTEGER PRIMARY KEY,
    entry_id   TEXT NOT NULL,
    written_at INTEGER NOT NULL,
    sealed     BLOB NOT NULL
  ) STRICT;
  CREATE INDEX history_by_entry ON history (entry_id, number);
  CREATE TRIGGER history_ends_with_entry AFTER DELETE ON entries
    BEGIN DELETE FROM history WHERE entry_id = OLD.id; END;

  -- How much each subject has, sessions included: counted as rows come and go, so that nobody has to count them.
  CREATE TABLE usage (
    owner   TEXT PRIMARY KEY,
    entries INTEGER NOT NULL,
    bytes   INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT INTO usage
    SELECT ${ownerOf("namespace")} AS owner, count(*), sum(length(sealed)) FROM entries GROUP BY owner;
  CREATE TRIGGER usage_grows AFTER INSERT ON entries BEGIN
    INSERT INTO usage VALUES (${ownerOf("NEW.namespace")}, 1, length(NEW.sealed))
      ON CONFLICT (owner) DO UPDATE SET entries = entries + 1, bytes = bytes + excluded.bytes;
  END;
  CREATE TRIGGER usage_changes AFTER UPDATE OF sealed ON entries
    WHEN length(NEW.sealed) <> length(OLD.sealed) BEGIN
    UPDATE usage SET bytes = bytes + length(NEW.sealed) - length(OLD.sealed)
      WHERE owner = ${ownerOf("NEW.namespace")};
  END;
  -- What was forgotten in slices, for the change feed; and while that is pending, which rows are hidden: those that match the
  -- filter and come before seq. Of what is done the filter keeps no more than whose it was.
  CREATE TABLE forgets (
    seq        INTEGER PRIMARY KEY,
    filter     TEXT NOT NULL,
    is_pending INTEGER NOT NULL,
    deleted    INTEGER NOT NULL
  ) STRICT;
  CREATE TRIGGER usage_shrinks AFTER DELETE ON entries BEGIN
    UPDATE usage SET entries = entries - 1, bytes = bytes - length(OLD.sealed)
      WHERE owner = ${ownerOf("OLD.namespace")};
    DELETE FROM usage WHERE owner = ${ownerOf("OLD.namespace")} AND entries = 0;
  END;
  `,
  `
  -- Former values count as values do. Those of a deleted entry are taken off with it, since nobody knows afterwards whose they were.
  DROP TRIGGER history_ends_with_entry;
  DROP TRIGGER usage_shrinks;
  CREATE TRIGGER usage_shrinks AFTER DELETE ON entries BEGIN
    UPDATE usage SET entries = entries - 1, bytes = bytes - length(OLD.sealed)
        - (SELECT coalesce(sum(length(sealed)), 0) FROM history WHERE entry_id = OLD.id)
      WHERE owner = ${ownerOf("OLD.namespace")};
    DELETE FROM usage WHERE owner = ${ownerOf("OLD.namespace")} AND entries = 0;
    DELETE FROM history WHERE entry_id = OLD.id;
  END;
  CREATE TRIGGER usage_grows_with_history AFTER INSERT ON history BEGIN
    UPDATE usage SET bytes = bytes + length(NEW.sealed)
      WHERE owner = (SELECT ${ownerOf("namespace")} FROM entries WHERE id = NEW.entry_id);
  END;
  CREATE TRIGGER usage_shrinks_with_history AFTER DELETE ON history BEGIN
    UPDATE usage SET bytes = bytes - length(OLD.sealed)
      WHERE owner = (SELECT ${ownerOf("namespace")} FROM entries WHERE id = OLD.entry_id);
  END;
  `,
];

/** SQL for the part of a namespace before its session (namespace.ts). */
export function ownerOf(namespace: string): string {
  return `substr(${namespace}, 1, instr(${namespace} || ':', ':') - 1)`;
}

export const SCHEMA_VERSION = MIGRATIONS.length;
/** Since this schema, rows are sealed in version 2 envelopes. */
const ENVELOPE_SINCE = 4;

/** 0 for an empty file, {@link SCHEMA_VERSION} for a current one. */
type SchemaVersion = number;

/**
 * The file's schema version; changes nothing.
 *
 * @throws `store_not_ours` for another program's database, `store_newer` for one from a newer version of this program.
 */
export function schemaVersionOf(session: SqliteSession): SchemaVersion {
  return session.read(() => identify(session));
}

/**
 * Migrates the file in one transaction; if several processes try at once, one does it and the others find it done. A new store
 * gets the check of `keys`, which verifies the key at every later open. `tables`: those of a migrated file, for an empty one.
 */
export function migrate(session: SqliteSession, keys: SealingKeys, tables?: string): void {
  session.write(() => {
    const version = identify(session);
    const steps = version === 0 && tables !== undefined ? [tables] : MIGRATIONS.slice(version);
    for (const step of steps) session.connection.exec(step);
    if (version === 0) {
      const columns = "one, key_check, newest_seq, pruned_through, prunes, id";
      session
        .statement(`INSERT INTO store (${columns}) VALUES (1, ?, 0, 0, 0, randomblob(16))`)
        .run(keys.check);
    } else if (version < ENVELOPE_SINCE) {
      const storeId = session.statement("SELECT id FROM store").get()?.id;
      if (!(storeId instanceof Uint8Array)) throw damaged(session.path);
      session.statement("UPDATE store SET legacy = ?").run(keys.legacyMark(storeId));
    }
    if (version < SCHEMA_VERSION) session.connection.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  });
  session.forgetStatements();
}

/** The SQL that makes the same tables at once. */
export function tablesIn(session: SqliteSession): string {
  const made = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid";
  const all = session.statement(made).all();
  return [`PRAGMA application_id = ${APPLICATION_ID}`, ...all.map(({ sql }) => `${sql}`)].join(";");
}

function identify(session: SqliteSession): SchemaVersion {
  const applicationId = session.pragma("application_id");
  const version = Number(session.pragma("user_version"));
  if (applicationId === APPLICATION_ID) return requireKnown(session, version);
  const tables = session.statement("SELECT count(*) AS n FROM sqlite_schema").get();
  if (applicationId === 0 && version === 0 && tables?.n === 0) return 0;
  throw new HelmdeckError(
    "store_not_ours",
    `${session.path} is the SQLite database of another program. It was not changed; check the path.`,
    { details: { path: session.path } },
  );
}

function requireKnown(session: SqliteSession, version: number): SchemaVersion {
  if (version < 1) throw damaged(session.path);
  requireNotNewer(session, version);
  return version;
}

/**
 * Throws `store_newer` when a newer version of this program has migrated the file, also while this one has it open; `store_moved`
 * when its memory was moved.
 */
export function requireNotNewer(
  session: SqliteSession,
  version = Number(session.pragma("user_version")),
): void {
  if (version <= SCHEMA_VERSION) return;
  const mark = markIn(session, version);
  if (mark !== undefined) throw movedError(session.path, mark);
  throw new HelmdeckError(
    "store_newer",
    `The memory database ${session.path} has schema ${version}, but this program supports at most ${SCHEMA_VERSION}. ` +
      "Upgrade this program; the database was not changed.",
    { details: { path: session.path, schema: version, known: SCHEMA_VERSION } },
  );
}

/** A file with our mark but unexpected content. */
export function damaged(path: string): HelmdeckError {
  return new HelmdeckError(
    "store_corrupt",
    `The memory database ${path} is damaged: its tables are not those that this program created. Keep it, and restore a backup.`,
    { details: { path } },
  );
}

const PLACES = placesFor(ENTRY_COLUMNS);
export const INSERT_ROW = `INSERT INTO entries (${ALL_COLUMNS}) VALUES (${PLACES})`;
/** Takes the id after the row. */
export const UPDATE_ROW = `UPDATE entries SET (${ALL_COLUMNS}) = (${PLACES}) WHERE id = ?`;

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
