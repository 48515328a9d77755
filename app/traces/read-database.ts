/**
 * Reads the rows of a SQLite database of another program, without a lock and without a new file beside it.
 *
 * Its owner may be writing: what is read then may mix two moments, or fail. So this finds, and proves nothing: a failure is
 * reported as a part that could not be read.
 */
import { stat } from "node:fs/promises";
import { setImmediate as turn } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { zstdDecompressSync } from "node:zlib";
import { defined } from "../../engine/defined.ts";
import type { SqliteConnection, SqliteDriver, SqliteRow } from "../../engine/store/sqlite/sqlite-driver.ts";
import { markOf, ZSTD } from "./file-text.ts";
import type { Phrases } from "./phrases.ts";
import type { TraceKind } from "./walk.ts";

const PAGE_ROWS = 100;
const MOST_SESSIONS = 50;
const LARGEST_VALUE_BYTES = 16 * 1024 * 1024;

interface FoundRows {
  readonly kind: TraceKind;
  readonly table: string;
  readonly rows: number;
  /** Keys of the conversations, or their ids when no key is known. */
  readonly sessions: readonly string[];
  /** Of the newest row that has a time. */
  readonly changedAt?: number;
}

interface ReadRows {
  readonly found: readonly FoundRows[];
  /** The marks of the compressed values that rows hold. */
  readonly packed: ReadonlySet<string>;
  /** What could not be read; absent when everything was. */
  readonly problem?: string;
}

export interface DatabaseQuery {
  readonly path: string;
  readonly driver: SqliteDriver;
  readonly phrases: Phrases;
  /** Of a table without a telling name. */
  readonly otherwise: TraceKind;
  readonly isOver: () => boolean;
}

/** Never rejects. */
export async function readDatabase(query: DatabaseQuery): Promise<ReadRows> {
  const { path, driver } = query;
  const found: FoundRows[] = [];
  const packed = new Set<string>();
  try {
    const log = await logOf(path);
    const connection = await driver.open(path, (log?.size ?? 0) > 0 ? "unlocked" : "immutable");
    try {
      connection.exec("PRAGMA trusted_schema = OFF;");
      const trouble = await readTables(connection, query, { found, packed });
      const isSame = isDeepStrictEqual(log, await logOf(path));
      const problem = trouble ?? (isSame ? undefined : "was changed while its rows were read");
      return { found, packed, ...defined({ problem }) };
    } finally {
      connection.close();
    }
  } catch {
    return { found, packed, problem: "its rows could not be read; only its bytes were searched" };
  }
}

/** Undefined when there is none. */
async function logOf(path: string): Promise<{ readonly size: number; readonly mtimeMs: number } | undefined> {
  const stats = await stat(`${path}-wal`).catch(() => undefined);
  return stats && { size: stats.size, mtimeMs: stats.mtimeMs };
}

async function readTables(
  connection: SqliteConnection,
  query: DatabaseQuery,
  { found, packed }: { readonly found: FoundRows[]; readonly packed: Set<string> },
): Promise<string | undefined> {
  const tables = connection
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")
    .all();
  const problems = new Set<string>();
  for (const { name } of tables) {
    const table = new TableReader(connection, String(name), query.phrases, packed);
    await table.read(query.isOver).catch(() => problems.add(`its table ${name} could not be read`));
    if (table.isCut) return "the time was up before all its rows were read";
    if (table.unreadable > 0) problems.add(`${table.unreadable} compressed values could not be read`);
    if (table.rows > 0) found.push(table.found(query.otherwise));
  }
  return problems.size === 0 ? undefined : [...problems].join("; ");
}

class TableReader {
  rows = 0;
  unreadable = 0;
  isCut = false;
  readonly #connection: SqliteConnection;
  readonly #name: string;
  readonly #phrases: Phrases;
  readonly #packed: Set<string>;
  readonly #sessions = new Set<string>();
  #changedAt = 0;

  constructor(connection: SqliteConnection, name: string, phrases: Phrases, packed: Set<string>) {
    this.#connection = connection;
    this.#name = name;
    this.#phrases = phrases;
    this.#packed = packed;
  }

  /** In slices, so that the process does other things meanwhile. */
  async read(isOver: () => boolean): Promise<void> {
    for await (const row of this.#allRows()) {
      if (isOver()) {
        this.isCut = true;
        return;
      }
      if (this.#holds(row)) {
        this.rows += 1;
        const session = row.session_key ?? row.session_id;
        if (typeof session === "string" && this.#sessions.size < MOST_SESSIONS) this.#sessions.add(session);
        const at = row.updated_at ?? row.created_at;
        if (typeof at === "number") this.#changedAt = Math.max(this.#changedAt, at);
      }
    }
  }

  found(otherwise: TraceKind): FoundRows {
    const sessions = [...this.#sessions].map((id) => this.#keyOf(id) ?? id);
    const times = this.#changedAt > 0 ? { changedAt: this.#changedAt } : {};
    return {
      ...{ kind: kindOf(this.#name) ?? otherwise, table: this.#name, rows: this.rows },
      ...{ sessions: [...new Set(sessions)], ...times },
    };
  }

  async *#allRows(): AsyncGenerator<SqliteRow> {
    const table = `"${this.#name.replaceAll('"', '""')}"`;
    const isPlain = hasRowId(this.#connection, table);
    const page = this.#connection.prepare(
      isPlain
        ? `SELECT rowid AS helmdeck_row, * FROM ${table} WHERE rowid > ? ORDER BY rowid LIMIT ${PAGE_ROWS}`
        : `SELECT * FROM ${table} LIMIT ${PAGE_ROWS} OFFSET ?`,
    );
    for (let after = isPlain ? Number.MIN_SAFE_INTEGER : 0; ; ) {
      const rows = page.all(after);
      yield* rows;
      if (rows.length < PAGE_ROWS) return;
      after = isPlain ? Number(rows.at(-1)?.helmdeck_row) : after + rows.length;
      await turn();
    }
  }

  #holds(row: SqliteRow): boolean {
    return Object.values(row).some((value) => {
      const text = value instanceof Uint8Array ? this.#textOf(value) : value;
      return typeof text === "string" && this.#phrases.isIn(text);
    });
  }

  #textOf(value: Uint8Array): string | undefined {
    if (!ZSTD.equals(value.subarray(0, ZSTD.length))) return Buffer.from(value).toString("utf8");
    this.#packed.add(markOf(value));
    try {
      return zstdDecompressSync(value, { maxOutputLength: LARGEST_VALUE_BYTES }).toString("utf8");
    } catch {
      this.unreadable += 1;
      return undefined;
    }
  }

  /** OpenClaw's commands name a conversation by its key. */
  #keyOf(sessionId: string): string | undefined {
    try {
      const asked = "SELECT session_key FROM session_windows WHERE session_id = ?";
      const key = this.#connection.prepare(asked).get(sessionId)?.session_key;
      return typeof key === "string" ? key : undefined;
    } catch {
      return undefined;
    }
  }
}

function hasRowId(connection: SqliteConnection, table: string): boolean {
  try {
    connection.prepare(`SELECT rowid FROM ${table} LIMIT 1`);
    return true;
  } catch {
    return false;
  }
}

/** OpenClaw 2026.9.6, docs/reference/database-schemas/layout.md. */
function kindOf(table: string): TraceKind | undefined {
  if (/^(memory_index|memory_embedding|chunks)/.test(table)) return "index";
  if (/^(transcript|trajectory|session|conversation|meeting|acp_replay)/.test(table)) return "transcript";
  return undefined;
}
