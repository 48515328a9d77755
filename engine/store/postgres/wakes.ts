/**
 * Telling other engines at once that a subject's memory has changed.
 *
 * A convenience alone: whoever must not miss a change asks for the revision. A notification may be lost with its connection, and then all
 * who watch are woken once there is another. It is sent after the commit, not within it, since commits that notify wait for
 * each other in the server; what comes while one is under way goes together.
 */
import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "pg";
import { type Namespace, ownerOf } from "../namespace.ts";
import type { Database } from "./database.ts";

const PAUSE_MS = 500;

type Listener = () => void;

export class Wakes {
  readonly #database: Database;
  readonly #channel: string;
  readonly #untold = new Set<string>();
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #ending = new AbortController();
  #telling: Promise<void> | undefined;
  #listening: Promise<void> | undefined;
  #client: Client | undefined;

  constructor(database: Database) {
    this.#database = database;
    this.#channel = `hdm_${hashOf(database.schema)}`;
  }

  /** Answers at once, and fails for nobody. */
  tell(owners: readonly Namespace[]): void {
    for (const owner of owners) this.#untold.add(hashOf(owner));
    this.#telling ??= this.#tellAll().finally(() => {
      this.#telling = undefined;
    });
  }

  /** Until the answer is called. `listener` may also be called for no reason. */
  watch(namespace: Namespace, listener: Listener): () => void {
    const hash = hashOf(ownerOf(namespace));
    const listeners = this.#listeners.get(hash) ?? new Set();
    this.#listeners.set(hash, listeners.add(listener));
    this.#listening ??= this.#listen();
    return () => {
      listeners.delete(listener);
    };
  }

  /** What is told by then has been sent. */
  async close(): Promise<void> {
    this.#ending.abort();
    await this.#telling;
    await this.#client?.end().catch(() => undefined);
    await this.#listening;
  }

  async #tellAll(): Promise<void> {
    while (this.#untold.size > 0) {
      const hashes = [...this.#untold];
      this.#untold.clear();
      const sql = "SELECT pg_notify(?, hash) FROM unnest(?::text[]) AS hash";
      await this.#database
        .perform((connection) => connection.query(sql, [this.#channel, hashes]))
        .catch(() => undefined);
    }
  }

  async #listen(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      await this.#listenOnce().catch(() => undefined);
      if (!signal.aborted) await delay(PAUSE_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Until the connection ends. */
  async #listenOnce(): Promise<void> {
    const client = this.#database.clientBeside();
    const ended = new Promise<void>((resolve) => {
      client.on("end", resolve).on("error", () => undefined);
    });
    client.on("notification", ({ payload = "" }) => this.#wake(this.#listeners.get(payload)));
    await client.connect();
    this.#client = client;
    if (this.#ending.signal.aborted) return client.end();
    await client.query(`LISTEN ${this.#channel}`);
    for (const listeners of this.#listeners.values()) this.#wake(listeners); // whatever was missed so far
    await ended;
  }

  #wake(listeners: Iterable<Listener> = []): void {
    for (const listener of listeners) listener();
  }
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
