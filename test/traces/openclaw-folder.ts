/** A state folder as OpenClaw 2026.9.6 writes it: notes, a database for each agent, kept transcripts. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gzipSync, zstdCompressSync } from "node:zlib";

export interface Said {
  readonly session: string;
  readonly text: string;
  /** As OpenClaw stores larger events. */
  readonly isPacked?: boolean;
}

export class OpenClawFolder {
  readonly stateDir: string;
  readonly agentDatabase: string;

  constructor(stateDir: string) {
    this.stateDir = stateDir;
    this.agentDatabase = join(stateDir, "agents/main/agent/openclaw-agent.sqlite");
  }

  path(name: string): string {
    return join(this.stateDir, name);
  }

  async write(name: string, content: string | Uint8Array): Promise<string> {
    const path = this.path(name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
    return path;
  }

  /** A closed transcript, as a deleted session leaves it, and one that was moved to the cold archive. */
  async keepTranscripts(text: string): Promise<void> {
    const line = `${JSON.stringify({ type: "message", message: { role: "user", content: text } })}\n`;
    await this.write("agents/main/sessions/old.jsonl.deleted.2026-11-20T10-00-00Z", line);
    await this.write("agents/main/sessions/cold/0a.jsonl.zst", zstdCompressSync(line));
    await this.write("backups/mine.tar.gz", gzipSync(line));
  }

  /** The open database of a running gateway: what is said is in its log, and not yet in its file. */
  async openAgentDatabase(said: readonly Said[], indexed: readonly string[] = []): Promise<DatabaseSync> {
    await mkdir(dirname(this.agentDatabase), { recursive: true });
    const database = new DatabaseSync(this.agentDatabase);
    database.exec(SCHEMA);
    for (const [seq, { session, text, isPacked }] of said.entries()) {
      const event = JSON.stringify({ type: "message", message: { role: "user", content: text } });
      database
        .prepare("INSERT OR IGNORE INTO session_windows VALUES (?, ?)")
        .run(session, `agent:main:${session}`);
      database
        .prepare("INSERT INTO transcript_events VALUES (?, ?, ?, ?, ?)")
        .run(
          session,
          seq,
          isPacked ? null : event,
          isPacked ? zstdCompressSync(event) : null,
          1_795_000_000_000,
        );
    }
    for (const [id, text] of indexed.entries())
      database.prepare("INSERT INTO memory_index_chunks VALUES (?, 'memory/a.md', ?)").run(id, text);
    return database;
  }
}

/** The columns that matter, of the tables of docs/reference/database-schemas/layout.md. */
const SCHEMA = `
PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
CREATE TABLE session_windows (session_id TEXT NOT NULL PRIMARY KEY, session_key TEXT NOT NULL) STRICT;
CREATE TABLE transcript_events (
  session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT, event_zstd BLOB, created_at INTEGER NOT NULL,
  PRIMARY KEY (session_id, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE memory_index_chunks (chunk_rowid INTEGER PRIMARY KEY, path TEXT NOT NULL, text TEXT NOT NULL) STRICT;
`;
