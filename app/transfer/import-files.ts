/**
 * Imports files of any format: valid items are written in batches, each completely or not at all; refused ones are reported by
 * file and line. A dry run does the same without writing.
 */
import { randomBytes } from "node:crypto";
import { defined } from "../../engine/defined.ts";
import { isHelmdeckError } from "../../engine/errors.ts";
import { checkCategory, checkTtl } from "../../engine/facts/facts-policy.ts";
import { importTag } from "../../engine/facts/import-tag.ts";
import { refuseSecrets } from "../../engine/facts/secrets.ts";
import { keepsExisting } from "../../engine/rules/conditions.ts";
import type {
  ConflictRule,
  Entry,
  EntryMeta,
  NewEntry,
  PutManyOptions,
  PutOptions,
  PutResult,
  Revision,
  UnixMs,
} from "../../engine/store/memory-store.ts";
import { type Subject, subjectOf } from "../../engine/store/namespace.ts";
import { nextTurn } from "../../engine/timing.ts";
import type { OpenMemory } from "../compose.ts";
import { requireNamespace } from "../subject.ts";
import { keepNewestCalls, TOOL_HISTORY_LIMITS } from "../tool-history.ts";
import type { ImportFile, ImportItem, ReadItems } from "./formats/format.ts";
import type { ImportFormat, KnownRule } from "./formats/names.ts";
import {
  type ImportCounts,
  type ImportedFact,
  type ImportResult,
  ImportTally,
  type ShownUpTo,
} from "./import-counts.ts";
import { beginningOf, KnownFactsRule } from "./import-known.ts";
import { ImportBatch, type ImportTarget, ImportTargets } from "./import-targets.ts";
import { isRetired } from "./note-numbers.ts";
import { resolveNote } from "./resolve-note.ts";

export interface ImportRequest {
  /** From `openMemory`. */
  readonly memory: Pick<OpenMemory, "store" | "now"> & Partial<Pick<OpenMemory, "defaultTtlSeconds">>;
  readonly subject: Subject;
  readonly format: ImportFormat;
  /** The format's reader. */
  readonly read: ReadItems;
  readonly files: readonly ImportFile[];
  /** Files that are skipped, each with the reason. */
  readonly leftOut?: readonly string[];
  /** Default: {@link makeImportId}. */
  readonly importId?: string;
  readonly dryRun?: boolean;
  /** For items without an expiry. */
  readonly ttlSeconds?: number;
  /** Of all imported facts; default: what their source names, see {@link resolveNote}. */
  readonly category?: string;
  /** Also accepts text that looks like a credential, because a person confirmed it. */
  readonly allowSecrets?: boolean;
  /** For existing facts. Default `newer`. Only `replace` lets a note replace what somebody stored since `shown`. */
  readonly onConflict?: ConflictRule;
  /** For facts that memory knows under another key, or that contradict one that is there. Default `both`. */
  readonly onKnown?: KnownRule;
  /** A dry run shows all facts, rather than the first ten. */
  readonly showAll?: boolean;
  /** Of the dry run that a person has seen; default: the memory as it is when the import begins. */
  readonly shown?: ShownUpTo;
  /** Called after each batch, and at the end. */
  readonly onProgress?: (progress: ImportCounts) => void;
}

type EntryItem = Extract<ImportItem, { readonly entry: NewEntry }>;

/** Items between progress reports. */
const STEP_ITEMS = 250;
const FIRST_SHOWN = 10;
/** What an import would do with a fact, and the revision of what is there under its key. */
interface Foretold {
  readonly outcome: "stored" | "replaced" | "refreshed" | "kept";
  readonly there: Revision;
}

/** `openclaw-2026-11-22-3fa9c1` */
function makeImportId(format: ImportFormat, now: UnixMs): string {
  return `${format}-${new Date(now).toISOString().slice(0, 10)}-${randomBytes(3).toString("hex")}`;
}

/**
 * @throws the store's errors (`store_full`, `store_locked`, …), with the number of entries that were imported before;
 * `invalid_input` for a file that is not in the format.
 */
export async function importFiles(request: ImportRequest): Promise<ImportResult> {
  const namespace = requireNamespace(request.subject);
  const { store, now, defaultTtlSeconds } = request.memory;
  const { ttlSeconds } = request;
  checkTtl(ttlSeconds); // once, not for each note
  if (request.category !== undefined) checkCategory(request.category);
  // Also makes the reserve without which nothing can be forgotten once the import has filled the disk.
  if (request.dryRun !== true) await store.deleteExpired().catch(() => undefined);
  const targets = new ImportTargets(store, request.shown);
  await targets.of(namespace);
  const run = new ImportRun(request, targets);
  const context = { namespace, now: now(), ...defined({ ttlSeconds, defaultTtlSeconds }) };
  return run.tally.takeAll(request.read(request.files, context), run);
}

class ImportRun {
  readonly #request: ImportRequest;
  readonly #targets: ImportTargets;
  readonly #tag: string;
  readonly tally: ImportTally;
  readonly #first: ImportedFact[] = [];
  readonly #known: KnownFactsRule;
  readonly #counts: ImportTally["counts"];
  #items = 0;
  #told = -1;
  /** Entries, whose conflicts the store resolves; notes; and unchanged notes to refresh. */
  readonly #batches: Readonly<Record<"entries" | "notes" | "refreshed", ImportBatch>>;
  #endsAt = 0;

  constructor(request: ImportRequest, targets: ImportTargets) {
    this.#request = request;
    this.#targets = targets;
    this.tally = new ImportTally(request);
    this.#counts = this.tally.counts;
    this.#tag = importTag(request.importId ?? makeImportId(request.format, request.memory.now()));
    this.#known = new KnownFactsRule(request.onKnown ?? "both", request.dryRun === true);
    const { memory, onConflict = "newer" } = request;
    const batch = (rules: PutManyOptions) =>
      new ImportBatch({ store: memory.store, targets }, rules, (results) => this.#count(results));
    const keeps = onConflict === "replace" ? undefined : (there: EntryMeta) => targets.isUnseen(there);
    this.#batches = {
      entries: batch({ onConflict }),
      notes: batch(defined({ keeps })),
      refreshed: batch({ onConflict: "newer" }), // what was edited meanwhile is kept
    };
  }

  get undoneBy(): string | undefined {
    return this.#targets.all.some(({ hasNotes }) => hasNotes) ? this.#tag : undefined;
  }

  async take(item: ImportItem): Promise<void> {
    this.#items += 1;
    const isPut = "entry" in item && item.noteOf === undefined && this.#request.dryRun !== true;
    if (this.#items % STEP_ITEMS === 0) {
      if (!isPut) this.#tell();
      await nextTurn();
    }
    if ("leftOut" in item) return this.tally.leaveOut(item.leftOut, item);
    if (!(await this.#isHarmless(item)) || !("entry" in item)) return;
    const { numbers } = await this.#targets.of(item.entry.namespace);
    const named = { ...item, entry: this.#inCategory(item.entry) };
    const placed = item.isNamed ? await numbers.give(named) : named;
    if (placed !== undefined) await this.#take(placed);
  }

  async #take(item: EntryItem): Promise<void> {
    const { entry } = item;
    const target = await this.#targets.of(entry.namespace);
    if (entry.origin === "fact" && !(await this.#accepts(item, () => target.requireOwnLook(entry.key))))
      return;
    const isNote = item.noteOf !== undefined;
    if (isNote) await this.#noteSeen(target, entry, item.noteOf);
    if (this.#request.onConflict !== "replace" && isRetired(target.retired, entry, isNote)) {
      this.#counts.retired += 1;
      return;
    }
    this.#targets.countOf(item.from, entry);
    if (isNote) await this.#takeNote(target, entry);
    else if (entry.origin === "audit") await this.#takeAudit(entry);
    else await this.#takeFact(target, entry);
  }

  async finish(): Promise<ImportResult> {
    for (const { numbers } of this.#targets.all)
      for await (const item of numbers.rest()) await this.#take(item);
    for (const batch of Object.values(this.#batches)) await batch.flush();
    this.#tell();
    const { memory, dryRun = false } = this.#request;
    const { all, owners } = this.#targets;
    for (const { namespace } of dryRun ? [] : all)
      await keepNewestCalls(memory.store, namespace, TOOL_HISTORY_LIMITS.rows);
    return {
      ...this.tally.result(),
      ...this.#marked(),
      ...(owners.length > 0 && { owners }),
      ...(dryRun && { foreseen: await this.#foreseen() }),
    };
  }

  #marked(): Pick<ImportResult, "importId" | "takers"> {
    const takers = this.#targets.all
      .filter(({ isMarked }) => isMarked)
      .map(({ namespace }) => subjectOf(namespace));
    if (takers.length === 0) return {};
    const isOwn = takers.length === 1 && takers[0] === this.#request.subject;
    return { importId: this.#tag.slice(importTag("").length), ...(!isOwn && { takers }) };
  }

  async #foreseen(): Promise<NonNullable<ImportResult["foreseen"]>> {
    const { memory, format } = this.#request;
    let gone = 0;
    for (const target of this.#targets.all) gone += await target.countRemoved(memory.store, format);
    const shown = new Map(this.#targets.all.map(({ namespace, shownUpTo }) => [namespace, shownUpTo]));
    return {
      first: this.#first,
      known: this.#known.pairs,
      gone,
      ...(this.#endsAt > 0 && { endsAt: this.#endsAt }),
      shown,
    };
  }

  #isHarmless(item: ImportItem): Promise<boolean> {
    return this.#accepts(item, async () => {
      if ("problem" in item) throw item.problem;
      const entry = "entry" in item && this.#request.allowSecrets !== true ? [item.entry] : [];
      for (const { value, ...names } of entry.flatMap((one) => [one, ...(one.history ?? [])]))
        await refuseSecrets({ ...names, value: Buffer.from(value).toString() });
    });
  }

  /** Reports what the check throws. */
  async #accepts(item: ImportItem, check: () => Promise<void> | void): Promise<boolean> {
    try {
      await check();
      return true;
    } catch (error) {
      if (!isHelmdeckError(error)) throw error;
      await this.tally.refuse(item, error);
      return false;
    }
  }

  /** Not twice for the same line. */
  #tell(): void {
    if (this.#told !== this.#items) this.#request.onProgress?.({ ...this.#counts });
    this.#told = this.#items;
  }

  async #noteSeen(target: ImportTarget, note: NewEntry, root: string): Promise<void> {
    // Two notes under one key: the later one finds what the earlier one wrote.
    if (target.hasSeen(note.key)) await this.#batches.notes.flush();
    target.seen(note, root);
    if (note.origin === "fact" && root !== "") this.#endsAt = Math.max(this.#endsAt, note.expiresAt ?? 0);
  }

  async #takeNote(target: ImportTarget, note: NewEntry): Promise<void> {
    const { memory, onConflict = "newer", dryRun, category } = this.#request;
    if (note.origin === "audit") return this.#takeRun(target, note);
    const isUnseen = (there: Entry) => target.isUnseen(there);
    const settled = await resolveNote(memory.store, note, { rule: onConflict, isUnseen, category });
    const supersedes =
      "there" in settled ? await this.#supersededBy(target, note, settled.outcome === "stored") : [];
    if (supersedes === "left out") return;
    const write = "write" in settled ? settled.write : undefined;
    if (settled.outcome !== "refreshed") this.#show(note, settled.outcome);
    if (dryRun && write !== undefined && settled.outcome !== "refreshed") target.isMarked = true;
    if (dryRun || write === undefined) {
      this.#counts[settled.outcome] += 1;
      return;
    }
    const marked = { ...this.#withMark(write), writer: { surface: "import" } };
    if ("there" in settled && supersedes.length > 0)
      return this.#putOver(target, marked, { supersedes, ifRevision: settled.there }, this.#batches.notes);
    if (settled.outcome !== "refreshed") await this.#batches.notes.push(marked);
    else await this.#batches[category === undefined ? "refreshed" : "notes"].push(write);
  }

  /** A run has its own time: the store keeps the newer one. */
  async #takeRun(target: ImportTarget, run: NewEntry): Promise<void> {
    if (this.#request.dryRun !== true) return this.#batches.entries.push(this.#withMark(run));
    this.#counts.audit += 1;
    if ((await this.#there(run)) === undefined) target.isMarked = true;
  }

  #inCategory(entry: NewEntry): NewEntry {
    const { category } = this.#request;
    return category === undefined || entry.origin !== "fact" ? entry : { ...entry, category };
  }

  #withMark(entry: NewEntry): NewEntry {
    return { ...entry, tags: [...entry.tags, this.#tag] };
  }

  #there(entry: NewEntry): Promise<Entry | undefined> {
    return this.#request.memory.store.get(entry).catch(() => undefined);
  }

  async #takeAudit(entry: NewEntry): Promise<void> {
    if (this.#request.dryRun) this.#counts.audit += 1;
    else await this.#batches.entries.push(entry);
  }

  async #takeFact(target: ImportTarget, entry: NewEntry): Promise<void> {
    const { dryRun } = this.#request;
    if (!this.#known.looks) return this.#batches.entries.push(entry);
    const { outcome, there } = await this.#foretell(target, entry);
    const isWritten = outcome === "stored" || outcome === "replaced";
    const supersedes = isWritten ? await this.#supersededBy(target, entry, outcome === "stored") : [];
    target.seen(entry);
    if (supersedes === "left out") return;
    if (dryRun) {
      this.#counts[outcome] += 1;
      if (isWritten) this.#show(entry, outcome);
    } else if (supersedes.length === 0) await this.#batches.entries.push(entry);
    else await this.#putOver(target, entry, { supersedes, ifRevision: there }, this.#batches.entries);
  }

  /** Predicts the store's result; of two lines with one key, the later one counts as a replacement. */
  async #foretell(target: ImportTarget, entry: NewEntry): Promise<Foretold> {
    const there = await this.#there(entry);
    if (there === undefined) return { outcome: target.hasSeen(entry.key) ? "replaced" : "stored", there: 0 };
    const { revision } = there;
    if (keepsExisting(there, entry, this.#request.onConflict ?? "newer"))
      return { outcome: "kept", there: revision };
    const isSame = Buffer.compare(there.value, entry.value) === 0;
    return { outcome: isSame ? "refreshed" : "replaced", there: revision };
  }

  #show({ origin, key, value }: NewEntry, outcome: ImportedFact["outcome"]): void {
    const { dryRun, showAll } = this.#request;
    if (dryRun !== true || origin !== "fact") return;
    if (showAll === true || this.#first.length < FIRST_SHOWN)
      this.#first.push({ key, value: beginningOf(value), outcome });
  }

  async #supersededBy(target: ImportTarget, fact: NewEntry, isNew: boolean) {
    const settled = await this.#known.settle(target, fact, isNew);
    if ("leftOut" in settled) {
      this.tally.leaveOut(settled.leftOut);
      this.tally.drop();
      return "left out";
    }
    if (this.#request.dryRun) this.#counts.superseded += settled.supersedes.length;
    return settled.supersedes;
  }

  /** In a transaction of its own. If one of the facts was changed meanwhile, it is stored beside them. */
  async #putOver(
    target: ImportTarget,
    entry: NewEntry,
    over: Pick<PutOptions, "supersedes" | "ifRevision">,
    beside: ImportBatch,
  ): Promise<void> {
    const { store } = this.#request.memory;
    for (const batch of Object.values(this.#batches)) await batch.flush();
    const { keysSince, shownUpTo: upTo } = target;
    const put = await store.put(entry, { ...over, upTo, keysSince }).catch(unlessChanged);
    if (put === undefined) return beside.push(entry);
    this.#targets.wrote([put]);
    this.#counts.superseded += put.superseded.length;
    this.#count([put]);
  }

  #count(results: readonly PutResult[]): void {
    for (const { entry, replaced, kept } of results) {
      if (!kept && entry.tags.includes(this.#tag)) this.#targets.mark(entry.namespace);
      if (entry.origin === "audit") this.#counts.audit += 1;
      else if (kept) this.#counts.kept += 1;
      else if (replaced === undefined) this.#counts.stored += 1;
      else if (replaced.sameValue) this.#counts.refreshed += 1;
      else this.#counts.replaced += 1;
    }
    this.#tell();
  }
}

function unlessChanged(error: unknown): undefined {
  if (!isHelmdeckError(error, "changed_meanwhile")) throw error;
}
