/** Import of JSON Lines: good lines go in, batch by batch, each batch whole or not at all; refused ones are told by number. */
import {
  type ConflictRule,
  type ErrorCode,
  HelmdeckError,
  isHelmdeckError,
  type KeyLooks,
  type MemoryStore,
  type Namespace,
  type NewEntry,
  refuseSecrets,
  type Subject,
  type UnixMs,
} from "../../engine/index.ts";
import { readKeyLooks } from "../keys-in-use.ts";
import { requireNamespace } from "../subject.ts";
import { keepNewestCalls, TOOL_HISTORY_LIMITS } from "../tool-history.ts";
import { type ReadLine, readLines } from "./line-reader.ts";
import { readEntry } from "./lines.ts";
import { isRetired, readRetiredKeys } from "./retired-keys.ts";

export interface ImportOptions {
  /** From `openMemory`. */
  readonly memory: { readonly store: MemoryStore; readonly now: () => UnixMs };
  readonly subject: Subject;
  /** UTF-8, one JSON object a line; a byte order mark, CRLF and blank lines are fine. */
  readonly input: AsyncIterable<Uint8Array>;
  /** True: also what looks like a credential goes in, since a person said so. */
  readonly allowSecrets?: boolean;
  /** Of a fact that is there already. Default `newer`. */
  readonly onConflict?: ConflictRule;
  /** After each batch, and at the end. */
  readonly onProgress?: (progress: ImportCounts) => void;
}

export interface ImportCounts {
  /** The number of the last line read. */
  readonly lines: number;
  /** Facts that were not there. */
  readonly stored: number;
  /** Facts that were there with the same value, and got a new life. */
  readonly refreshed: number;
  readonly replaced: number;
  /** Lines that did not come in: what is there stays. */
  readonly kept: number;
  /** Facts that another one superseded here since: they stay retired. */
  readonly retired: number;
  /** Audit rows, also those that were there. */
  readonly audit: number;
  readonly refusedCount: number;
}

export interface RefusedLine {
  /** Its number, from 1. */
  readonly line: number;
  readonly code: ErrorCode;
  readonly reason: string;
}

export interface ImportResult extends ImportCounts {
  /** The first 10,000 of them. */
  readonly refused: readonly RefusedLine[];
}

/** A value of 64 KiB with every character escaped, and then some. */
const LINE_BYTES = 1_024 * 1_024;
/** One transaction, for which others wait. */
const BATCH_ENTRIES = 250;
const BATCH_BYTES = 1_024 * 1_024;
const REFUSALS_KEPT = 10_000;

/**
 * Of a fact that is there, and of two lines with one key, the one that was written later wins, unless the caller says otherwise; a
 * line that names no time is new. Running an import again changes nothing but the times of such lines.
 *
 * @throws what the store throws (`store_full`, `store_locked`, …), with the number of the last line that is safely in.
 */
export async function importLines(options: ImportOptions): Promise<ImportResult> {
  const namespace = requireNamespace(options.subject);
  const { store } = options.memory;
  const known = {
    looks: await readKeyLooks(store, namespace),
    retired: await readRetiredKeys(store, namespace),
  };
  const run = new ImportRun(options, namespace, known);
  for await (const line of readLines(options.input, LINE_BYTES)) await run.take(line);
  return run.finish();
}

/** What is there before the first line. */
interface KnownKeys {
  readonly looks: KeyLooks;
  readonly retired: Awaited<ReturnType<typeof readRetiredKeys>>;
}

class ImportRun {
  readonly #options: ImportOptions;
  readonly #namespace: Namespace;
  readonly #known: KnownKeys;
  readonly #refused: RefusedLine[] = [];
  #counts = {
    lines: 0,
    stored: 0,
    refreshed: 0,
    replaced: 0,
    kept: 0,
    retired: 0,
    audit: 0,
    refusedCount: 0,
  };
  #batch: NewEntry[] = [];
  #batchBytes = 0;
  #safeLine = 0;

  constructor(options: ImportOptions, namespace: Namespace, known: KnownKeys) {
    this.#options = options;
    this.#namespace = namespace;
    this.#known = known;
  }

  async take(line: ReadLine): Promise<void> {
    this.#counts.lines = line.number;
    const entry = await this.#read(line);
    if (entry === undefined) return;
    if (this.#options.onConflict !== "replace" && isRetired(this.#known.retired, entry)) {
      this.#counts.retired += 1;
      return;
    }
    this.#batch.push(entry);
    this.#batchBytes += entry.value.byteLength;
    if (this.#batch.length >= BATCH_ENTRIES || this.#batchBytes >= BATCH_BYTES) await this.#flush();
  }

  async finish(): Promise<ImportResult> {
    await this.#flush();
    await keepNewestCalls(this.#options.memory.store, this.#namespace, TOOL_HISTORY_LIMITS.rows);
    return { ...this.#counts, refused: this.#refused };
  }

  async #read(line: ReadLine): Promise<NewEntry | undefined> {
    try {
      if ("problem" in line) throw new HelmdeckError("invalid_input", `The line ${line.problem}.`);
      const entry = readEntry(line.text, { namespace: this.#namespace, now: this.#options.memory.now() });
      if (this.#options.allowSecrets !== true) await refuseSecretsIn(entry);
      if (entry.origin === "fact") this.#requireOwnLook(entry.key);
      return entry;
    } catch (error) {
      if (!isHelmdeckError(error)) throw error;
      this.#counts.refusedCount += 1;
      const refusal = { line: line.number, code: error.code, reason: error.message };
      if (this.#refused.length < REFUSALS_KEPT) this.#refused.push(refusal);
      return undefined;
    }
  }

  #requireOwnLook(key: string): void {
    this.#known.looks.refuseLookalike(key);
    this.#known.looks.add(key);
  }

  async #flush(): Promise<void> {
    if (this.#batch.length > 0) await this.#write();
    this.#safeLine = this.#counts.lines;
    this.#options.onProgress?.({ ...this.#counts });
  }

  async #write(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    this.#batchBytes = 0;
    const { memory, onConflict = "newer" } = this.#options;
    const results = await memory.store.putMany(batch, { onConflict }).catch((error: unknown) => {
      throw interrupted(error, this.#safeLine);
    });
    for (const { entry, replaced, kept } of results) {
      if (entry.origin === "audit") this.#counts.audit += 1;
      else if (kept) this.#counts.kept += 1;
      else if (replaced === undefined) this.#counts.stored += 1;
      else if (replaced.sameValue) this.#counts.refreshed += 1;
      else this.#counts.replaced += 1;
    }
  }
}

async function refuseSecretsIn(entry: NewEntry): Promise<void> {
  for (const { key, value, tags } of [entry, ...(entry.history ?? [])]) {
    await refuseSecrets({ key, value: Buffer.from(value).toString(), tags });
  }
}

function interrupted(error: unknown, safeLine: number): unknown {
  if (!isHelmdeckError(error)) return error;
  const message = `${error.message} Everything up to line ${safeLine} is in, nothing after it; import the file again to go on.`;
  return new HelmdeckError(error.code, message, { details: { ...error.details, safeLine }, cause: error });
}
