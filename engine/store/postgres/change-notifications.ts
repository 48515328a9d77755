/**
 * Notifies other engines at once that a subject's memory has changed.
 *
 * Notifications are only a convenience: where a change must not be missed, check the revision. A notification may be lost with
 * its connection; then all watchers are called once there is a new one. It is sent after the commit instead of within it, since
 * commits with notifications wait for each other in the server; those that arrive during a notification are combined.
 */
import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "pg";
import { type Namespace, ownerOf } from "../namespace.ts";
import type { Database } from "./database.ts";

/** Between attempts to listen: longer after each failure. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [500, 30_000];

type Listener = () => void;

export class ChangeNotifications {
  readonly #database: Database;
  readonly #channel: string;
  readonly #untold = new Set<string>();
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #ending = new AbortController();
  #telling: Promise<void> | undefined;
  #listening: Promise<void> | undefined;
  /** Ends the current connection. */
  #leave: (() => void) | undefined;

  constructor(database: Database) {
    this.#database = database;
    this.#channel = `hdm_${hashOf(database.schema)}`;
    database.onTakeover(() => this.#leave?.());
  }

  /** Returns at once and never fails. */
  notify(owners: readonly Namespace[]): void {
    for (const owner of owners) this.#untold.add(hashOf(owner));
    this.#telling ??= this.#tellAll().finally(() => {
      this.#telling = undefined;
    });
  }

  /** Active until the returned function is called. `listener` may also be called without a change. */
  watch(namespace: Namespace, listener: Listener): () => void {
    const hash = hashOf(ownerOf(namespace));
    const listeners = this.#listeners.get(hash) ?? new Set();
    this.#listeners.set(hash, listeners.add(listener));
    this.#listening ??= this.#listen();
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(hash) === listeners) this.#listeners.delete(hash);
    };
  }

  /** Pending notifications are sent first. */
  async close(): Promise<void> {
    this.#ending.abort();
    await this.#telling;
    this.#leave?.();
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
    for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; ) {
      const listened = await this.#listenOnce().then(
        () => true,
        () => false, // on a standby, until it is promoted
      );
      pauseMs = listened ? FIRST_PAUSE_MS : Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
      await delay(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Until the connection ends, or belongs to a server that was replaced by another. */
  async #listenOnce(): Promise<void> {
    const client = this.#database.clientBeside();
    const ended = new Promise<void>((resolve) => {
      this.#leave = resolve;
      client.on("end", resolve).on("error", () => undefined);
    });
    client.on("notification", ({ payload = "" }) => this.#wake(this.#listeners.get(payload)));
    try {
      await Promise.race([this.#listenOn(client), ended]);
      await ended;
    } finally {
      client.end().catch(() => undefined); // does not wait for a server that may no longer answer
    }
  }

  async #listenOn(client: Client): Promise<void> {
    await client.connect();
    await client.query(`LISTEN ${this.#channel}`);
    for (const listeners of this.#listeners.values()) this.#wake(listeners); // covers everything missed so far
  }

  #wake(listeners: Iterable<Listener> = []): void {
    for (const listener of listeners) listener();
  }
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
