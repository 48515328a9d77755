/**
 * Imports our own JSON Lines into a memory that a server keeps, many facts in one request.
 *
 * The server says when a fact was stored and by whom. So times and writers of the file do not count, and former values and records of
 * runs are left out. A line that is not newer than the fact there is kept out by the fact's revision, whoever writes meanwhile.
 */
import { defined } from "../../engine/defined.ts";
import { ABOUT_THE_INPUT, HelmdeckError } from "../../engine/errors.ts";
import { FACT_LIMITS } from "../../engine/facts/facts-policy.ts";
import { pagesOf } from "../../engine/pages-of.ts";
import { keepsExisting } from "../../engine/rules/conditions.ts";
import type { ConflictRule, NewEntry, UnixMs } from "../../engine/store/memory-store.ts";
import type { Subject } from "../../engine/store/namespace.ts";
import type { Writer } from "../../engine/store/writer.ts";
import type { FactsInput, Memory, RefusedFact, StoredFact } from "../memory.ts";
import { requireNamespace } from "../subject.ts";
import type { ImportFile, ImportItem, Place } from "./formats/format.ts";
import { readJsonLines } from "./formats/json-lines.ts";
import { type ImportCounts, type ImportResult, ImportTally } from "./import-counts.ts";

export interface BatchImportRequest {
  readonly memory: Pick<Memory, "listFacts" | "storeFacts">;
  readonly subject: Subject;
  readonly writer: Writer;
  readonly files: readonly ImportFile[];
  readonly now: UnixMs;
  /** For lines without an expiry. */
  readonly ttlSeconds?: number;
  readonly onConflict: ConflictRule;
  readonly onProgress?: (progress: ImportCounts) => void;
}

/** Below the server's limit for a body, with room for the fields around them. */
const MOST_BYTES = 500 * 1_024;

type Fact = FactsInput["facts"][number];

interface Sent {
  readonly place: Place;
  readonly entry: NewEntry;
  readonly fact: Fact;
}

/** A fact there, for the rule `newer`. */
interface There {
  readonly updatedAt: UnixMs;
  readonly expiresAt?: UnixMs;
  readonly revision: number;
}

/** Throws the memory's failures. Importing the file again then continues. */
export async function importByBatches(request: BatchImportRequest): Promise<ImportResult> {
  const { files, subject, ...context } = request;
  const run = new BatchImport(request);
  await run.begin();
  return run.tally.takeAll(readJsonLines(files, { ...context, namespace: requireNamespace(subject) }), run);
}

class BatchImport {
  readonly #request: BatchImportRequest;
  readonly #there = new Map<string, There>();
  readonly tally: ImportTally;
  readonly #counts: ImportTally["counts"];
  #batch: Sent[] = [];
  #bytes = 0;

  constructor(request: BatchImportRequest) {
    this.#request = request;
    this.tally = new ImportTally({ files: request.files, format: "jsonl" });
    this.#counts = this.tally.counts;
  }

  /** Only the rule `newer` asks what is there. */
  async begin(): Promise<void> {
    const { memory, subject, onConflict } = this.#request;
    if (onConflict !== "newer") return;
    const read = (more: { readonly cursor?: string }) => memory.listFacts(subject, { limit: 1_000, ...more });
    for await (const { facts } of pagesOf(read))
      for (const { key, updatedAt, expiresAt, revision = 0 } of facts)
        this.#there.set(key, { updatedAt, revision, ...defined({ expiresAt }) });
  }

  async take(item: ImportItem): Promise<void> {
    if ("leftOut" in item) return this.tally.leaveOut(item.leftOut, item);
    if ("problem" in item) return this.tally.refuse(item, item.problem);
    const { entry } = item;
    if (entry.origin !== "fact") {
      this.tally.leaveOut("records of runs");
      return this.tally.drop();
    }
    if (entry.history !== undefined) this.tally.leaveOut("former values");
    if (this.#batch.some(({ fact }) => fact.key === entry.key)) await this.#send();
    const fact = this.#factOf(entry);
    if (fact === undefined) this.#counts.kept += 1;
    else await this.#add({ place: item, fact, entry });
  }

  async finish(): Promise<ImportResult> {
    await this.#send();
    return this.tally.result();
  }

  /** Undefined if the one that is there stays. */
  #factOf(entry: NewEntry): Fact | undefined {
    const { now, onConflict } = this.#request;
    const there = this.#there.get(entry.key);
    if (there !== undefined && keepsExisting(there, entry, onConflict)) return undefined;
    const { key, value, category, tags, ending, expiresAt = now, conversationId } = entry;
    const { leastTtlSeconds: least, mostTtlSeconds: most } = FACT_LIMITS;
    const seconds = Math.round((expiresAt - now) / 1_000);
    return {
      ...{ key, value: Buffer.from(value).toString(), category, tags, ...defined({ conversationId }) },
      ...(ending !== "default" && { ttlSeconds: Math.min(Math.max(seconds, least), most) }),
      ...(onConflict !== "replace" && { ifRevision: there?.revision ?? 0 }),
    };
  }

  async #add(one: Sent): Promise<void> {
    const bytes = Buffer.byteLength(JSON.stringify(one.fact));
    if (this.#batch.length === FACT_LIMITS.together || this.#bytes + bytes > MOST_BYTES) await this.#send();
    this.#batch.push(one);
    this.#bytes += bytes;
  }

  async #send(): Promise<void> {
    const sent = this.#batch;
    if (sent.length === 0) return;
    this.#batch = [];
    this.#bytes = 0;
    const { memory, subject, writer, onProgress } = this.#request;
    const batch = { facts: sent.map(({ fact }) => fact), similar: false };
    const { results } = await memory.storeFacts(subject, batch, writer);
    const failures: HelmdeckError[] = [];
    for (const [n, one] of sent.entries()) failures.push(...(await this.#count(one, results[n])));
    if (failures[0] !== undefined) throw failures[0];
    onProgress?.({ ...this.#counts });
  }

  /** Failures of the memory, which end the import, once the others of the batch are counted. */
  async #count(
    { place, entry }: Sent,
    result: StoredFact | RefusedFact | undefined,
  ): Promise<readonly HelmdeckError[]> {
    if (result === undefined)
      return [new HelmdeckError("engine_unavailable", "The server left out a result.")];
    if ("error" in result) return this.#countRefused(place, result);
    const { replaced, revision = 0 } = result;
    const { key, updatedAt = this.#request.now, expiresAt } = entry;
    this.#there.set(key, { updatedAt, revision, ...defined({ expiresAt }) }); // for a later line with this key
    if (replaced === undefined) this.#counts.stored += 1;
    else if (replaced.refreshed) this.#counts.refreshed += 1;
    else this.#counts.replaced += 1;
    return [];
  }

  async #countRefused(place: Place, { error, message }: RefusedFact): Promise<readonly HelmdeckError[]> {
    const problem = new HelmdeckError(error, message);
    if (error === "changed_meanwhile") this.#counts.kept += 1;
    else if (ABOUT_THE_INPUT.has(error)) await this.tally.refuse(place, problem);
    else return [problem];
    return [];
  }
}
