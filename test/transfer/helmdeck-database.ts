/** Databases of helmdeck 0.29: created from its description and, if HELMDECK_BIN names it, by helmdeck itself. */
import { type ChildProcess, spawn } from "node:child_process";
import { createCipheriv, createHash, createHmac, randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { DAY_MS } from "../app/fixtures/memories.ts";

const SCHEMA = `CREATE TABLE memory_entries (
  id TEXT PRIMARY KEY, namespace TEXT NOT NULL, key TEXT NOT NULL, value_ciphertext BLOB NOT NULL, value_nonce BLOB NOT NULL,
  fingerprint TEXT NOT NULL, category TEXT NOT NULL DEFAULT '', tags_json TEXT NOT NULL DEFAULT '[]', created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL, expires_at TEXT, metadata_json TEXT NOT NULL DEFAULT '{}', UNIQUE (namespace, key))`;

export interface HelmdeckRow {
  readonly namespace?: string;
  readonly key: string;
  readonly value: string | Uint8Array;
  readonly category?: string;
  readonly tags?: readonly string[];
  readonly createdAt?: string;
  readonly updatedAt?: string;
  readonly expiresAt?: string | null;
  readonly fingerprint?: string;
  /** A key other than the database's. */
  readonly sealedWith?: Uint8Array;
}

/** The bytes 00 01 … 1f. */
export const KEY = Uint8Array.from({ length: 32 }, (_none, index) => index);
export const KEY_HEX = Buffer.from(KEY).toString("hex");

/** Encrypts like helmdeck. Its description has a test vector with {@link KEY} and the nonce 6465666768696a6b6c6d6e6f. */
export function seal(value: Uint8Array, key: Uint8Array, nonce: Uint8Array = randomBytes(12)) {
  const sealing = createCipheriv("aes-256-gcm", key, nonce);
  const sealed = Buffer.concat([sealing.update(value), sealing.final(), sealing.getAuthTag()]);
  return { sealed, nonce };
}

/** The database of a running helmdeck: the newest rows and the deletes of `forgotten` are only in the log. */
export function makeDatabase(
  folder: string,
  rows: readonly HelmdeckRow[],
  {
    forgotten = [],
    now = Date.now(),
  }: { readonly forgotten?: readonly string[]; readonly now?: number } = {},
): string {
  const running = join(folder, `running-${randomUUID()}.db`);
  const database = new DatabaseSync(running);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; ${SCHEMA}`);
  const insert = database.prepare(
    "INSERT INTO memory_entries (id, namespace, key, value_ciphertext, value_nonce, fingerprint, category, tags_json, created_at, updated_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  for (const [index, row] of rows.entries()) {
    if (index === rows.length - 1) database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    insert.run(...columnsOf(row, now));
  }
  for (const key of forgotten) database.prepare("DELETE FROM memory_entries WHERE key = ?").run(key);
  const path = join(folder, "helmdeck.db");
  for (const end of ["", "-wal"]) copyFileSync(`${running}${end}`, `${path}${end}`);
  database.close();
  return path;
}

/** Written ten days before `now`, and valid for two months. */
function columnsOf(row: HelmdeckRow, now: number) {
  const { namespace = "openclaw-configure", key, category = "user_facts", tags = [], sealedWith = KEY } = row;
  const { createdAt = goTime(now - 10 * DAY_MS), updatedAt = createdAt } = row;
  const expiresAt = row.expiresAt === undefined ? goTime(now + 60 * DAY_MS) : row.expiresAt;
  const value = Buffer.from(row.value);
  const { sealed, nonce } = seal(value, sealedWith);
  const fingerprint = row.fingerprint ?? createHash("sha256").update(value).digest("hex").slice(0, 16);
  const id = `mem_${randomBytes(16).toString("hex")}`;
  const texts = [category, JSON.stringify(tags), createdAt, updatedAt] as const;
  return [id, namespace, key, sealed, nonce, fingerprint, ...texts, expiresAt] as const;
}

/** Go's notation: without trailing zeros. */
export function goTime(time: number): string {
  return new Date(time).toISOString().replace(/\.?0*Z$/, "Z");
}

/** A run of a pack or a pipeline that ended this long before `now`. */
export function run(kind: "pack" | "pipeline", ago: number, now: number, row: object = {}): HelmdeckRow {
  const at_unix = Math.floor((now - ago) / 1_000);
  const name = kind === "pack" ? "github.list_issues" : "builtin.grounded-blog";
  const more = kind === "pack" ? { outcome: "ok" } : { run_id: "run_1", outcome: "succeeded" };
  const value = JSON.stringify({ [kind]: name, ...more, at_unix, ...row }).replaceAll("<", "\\u003c");
  const key = `${kind}_history/${name}/0${at_unix}000000007`;
  const [createdAt, expiresAt] = [goTime(at_unix * 1_000), goTime((at_unix + 30 * 86_400) * 1_000)];
  return { key, category: `${kind}_history`, value, createdAt, expiresAt };
}

/** The contents that every source of the suite must have. */
export interface Source {
  readonly path: string;
  readonly keyFile: string;
  /** The facts of `openclaw-configure` and of `admin`. */
  readonly facts: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly forgotten: string;
  /** The minimum number of `openclaw-configure`'s pack runs. */
  readonly runs: number;
}

const FACTS = {
  "openclaw-configure": { "deploy/tool": "We deploy through Konflux.", "react/vue": "React over Vue" },
  admin: { "deploy/tool": "Ask the platform team." },
} as const;
const FORGOTTEN = "forgotten/last";

export async function madeByUs(folder: string): Promise<Source> {
  const facts: readonly HelmdeckRow[] = Object.entries(FACTS).flatMap(([namespace, held]) =>
    Object.entries(held).map(([key, value]) => ({ namespace, key, value })),
  );
  const path = makeDatabase(
    folder,
    [run("pack", 3_600_000, Date.now()), { key: FORGOTTEN, value: "gone" }, ...facts],
    {
      forgotten: [FORGOTTEN],
    },
  );
  return source(folder, path, KEY_HEX);
}

function source(folder: string, path: string, hex: string): Source {
  const keyFile = join(folder, "helmdeck.key");
  writeFileSync(keyFile, `${hex}\n`, { mode: 0o600 });
  return { path, keyFile, facts: FACTS, forgotten: FORGOTTEN, runs: 1 };
}

/** Runs the helmdeck program, stores the same facts through it, and kills it, so that its log remains. */
export async function madeByHelmdeck(folder: string, binary: string): Promise<Source> {
  const secret = randomBytes(32).toString("hex");
  const hex = randomBytes(32).toString("hex").toUpperCase();
  const port = await freePort();
  const path = join(folder, "helmdeck.db");
  mkdirSync(join(folder, "home"));
  const child = spawn(binary, ["-db", path, "-addr", `127.0.0.1:${port}`, "-disable-runtime"], {
    env: {
      HOME: join(folder, "home"),
      HELMDECK_JWT_SECRET: secret,
      HELMDECK_MEMORY_KEY: hex,
      HELMDECK_MARKETPLACE_DISABLE: "1",
    },
    cwd: folder,
    stdio: "ignore",
  });
  try {
    const ask = asking(`http://127.0.0.1:${port}`, secret);
    await answering(`http://127.0.0.1:${port}/healthz`, child);
    for (const [subject, held] of Object.entries(FACTS)) {
      for (const [key, value] of Object.entries(held))
        await ask(subject, "/api/v1/memory/store", { key, value });
    }
    await ask("openclaw-configure", "/api/v1/memory/store", { key: FORGOTTEN, value: "gone" });
    await ask("openclaw-configure", "/api/v1/packs/github.list_issues", { repo: "" });
    await ask("openclaw-configure", "/api/v1/memory/forget", { scope: `key:${FORGOTTEN}` });
  } finally {
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }
  return source(folder, path, hex);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

async function answering(url: string, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`helmdeck ended with ${child.exitCode}`);
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return;
    await pause(50); // helmdeck does not report when it starts to listen
  }
}

function asking(base: string, secret: string) {
  return async (subject: string, path: string, body: object): Promise<void> => {
    const answer = await fetch(`${base}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${tokenFor(subject, secret)}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const isRun = path.includes("/packs/"); // a failed run is recorded too
    if (!answer.ok && !isRun) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  };
}

function tokenFor(sub: string, secret: string): string {
  const now = Math.floor(Date.now() / 1_000);
  const parts = [
    { alg: "HS256", typ: "JWT" },
    { iss: "helmdeck", sub, iat: now, exp: now + 600 },
  ];
  const signed = parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}
