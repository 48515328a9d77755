/** `traces`, and what a forget says of the places where something still stands. Loaded when it runs. */
import { execFile } from "node:child_process";
import { lstat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { CommandMemory } from "../app/compose.ts";
import { copiesBeside } from "../app/health/private-files.ts";
import { MOST_COPIES, type NotedCopy, readNotes } from "../app/keys/store-notes.ts";
import type { Forgotten } from "../app/memory.ts";
import {
  alsoText,
  diffLines,
  GAPS,
  type Gap,
  type KeptCopy,
  notKnown,
  notLookedFor,
  type Receipt,
  receiptLines,
  tracesLines,
} from "../app/presenters/traces-text.ts";
import { findTraces, type Traces } from "../app/traces/find-traces.ts";
import type { OpenClawPlace } from "../app/traces/openclaw-place.ts";
import { Phrases } from "../app/traces/phrases.ts";
import { type PlacesOutside, placesOutside } from "../app/traces/places-outside.ts";
import { type Place, type ReadNote, readNote, takeOut } from "../app/traces/take-out.ts";
import {
  factsHolding,
  type Holding,
  type ValuesInScope,
  valuesInScope,
} from "../app/traces/values-in-scope.ts";
import { toWire } from "../app/wire/codec.ts";
import { defined } from "../engine/defined.ts";
import { invalidField, isHelmdeckError } from "../engine/errors.ts";
import { harmlessLine } from "../engine/facts/hostile-text.ts";
import { type CommandContext, missingFact } from "./command-line.ts";
import { EXIT_DONE } from "./exit-codes.ts";
import { agreesAt, answerAt, inputSource, isPersonAt, readText } from "./input.ts";
import { showCount } from "./progress-bar.ts";
import { withMemory } from "./with-memory.ts";

/** For a person who asked for it and sees the progress. */
const ASKED_WITHIN_MS = 120_000;
/** For a person who only forgot something. */
const UNASKED_WITHIN_MS = 10_000;
const WORDS_BYTES = 64 * 1024;
/** Another embedding provider may have to load its model. */
const INDEX_TIMEOUT_MS = 180_000;

/** What to look for, from a fact or from the words that a person gives. */
interface Sought {
  readonly phrases: Phrases;
  /** Our own memory, which was looked in, too; absent when it was not. */
  readonly inMemory?: InMemory;
  readonly held?: Omit<ValuesInScope, "values">;
  readonly forgotten?: Forgotten;
}

export async function tracesCommand(context: CommandContext, key: string | undefined): Promise<number> {
  const sought = key === undefined ? await soughtWords(context) : await soughtFact(context, key);
  const search = await TracesSearch.begin(context, sought, ASKED_WITHIN_MS);
  if (context.options.json) await context.output.json(toWire(await search.receipt()));
  else await search.show();
  return EXIT_DONE;
}

interface InMemory extends Holding {
  /** Another process keeps it. */
  readonly isRemote: boolean;
}

export type ForgottenSought = Sought & Required<Pick<Sought, "held" | "forgotten">>;

/** What was forgotten. Its phrases stay in this process's memory until the command ends. */
export function soughtIn({ values, ...held }: ValuesInScope, forgotten: Forgotten): ForgottenSought {
  return { phrases: Phrases.ofValues(values), held, forgotten };
}

/** With the caller's other facts that hold a phrase. `except`: the key of the one that is looked for. Never rejects. */
export async function alsoInMemory<Looked extends Sought>(
  sought: Looked,
  memory: CommandMemory,
  { caller, except }: { readonly caller: string; readonly except?: string },
): Promise<Looked> {
  const { phrases } = sought;
  if (phrases.isEmpty) return sought;
  const looked = factsHolding(memory, caller, { phrases, ...defined({ except }) });
  const holding = await looked.catch(() => undefined);
  return holding === undefined
    ? sought
    : { ...sought, inMemory: { ...holding, isRemote: "refusal" in memory } };
}

/** After a forget: one line; and everything if it was asked for, or a person who may be asked says yes. */
export async function traceForgotten(
  context: CommandContext,
  sought: Sought,
  { isAsked, mayAsk }: { readonly isAsked: boolean; readonly mayAsk: boolean },
): Promise<Receipt> {
  const { output, shell, options } = context;
  const search = await TracesSearch.begin(context, sought, isAsked ? ASKED_WITHIN_MS : UNASKED_WITHIN_MS);
  const receipt = await search.receipt();
  if (options.json) return receipt;
  await output.note(alsoText(receipt));
  const { remaining, backups, inMemory } = receipt;
  const isSomewhere = remaining.found.length + backups.length + inMemory.length > 0;
  if (isAsked || (isSomewhere && mayAsk && (await agreesAt(shell, "Show where?")))) await search.show();
  else if (isSomewhere)
    await output.note(`To see where: ${context.line.name} traces (it asks for the words).`);
  return receipt;
}

async function soughtFact(context: CommandContext, key: string): Promise<Sought> {
  const { caller } = context.options;
  return withMemory(context, async (memory) => {
    const { values, ...held } = await valuesInScope(memory, caller, `key:${key}`);
    if (held.facts + held.unreadable === 0) throw missingFact(context);
    return alsoInMemory({ phrases: Phrases.ofValues(values), held }, memory, { caller, except: key });
  });
}

async function soughtWords(context: CommandContext): Promise<Sought> {
  const { shell, options } = context;
  const typed = isPersonAt(shell)
    ? await answerAt(shell, "Words to look for (they are kept nowhere): ")
    : await readText(inputSource(shell, "-"), WORDS_BYTES);
  const phrases = Phrases.ofLines(typed);
  if (phrases.isEmpty)
    throw invalidField("words", "are missing or too short: give at least three letters, one phrase a line", {
      named: "The words to look for",
    });
  const { caller } = options;
  // A memory that does not open is no reason not to look elsewhere.
  return withMemory(context, (memory) => alsoInMemory({ phrases }, memory, { caller })).catch(() => ({
    phrases,
  }));
}

class TracesSearch {
  readonly #context: CommandContext;
  readonly #sought: Sought;
  readonly #withinMs: number;
  readonly #place: OpenClawPlace;
  readonly #takenOut: { readonly path: string; readonly lines: number }[] = [];
  #found: Traces;
  #copies: readonly KeptCopy[] = [];
  #gaps: readonly Gap[] = [];

  private constructor(context: CommandContext, sought: Sought, withinMs: number, place: OpenClawPlace) {
    this.#context = context;
    this.#sought = sought;
    this.#withinMs = withinMs;
    this.#place = place;
    this.#found = { found: [], unread: [], files: 0, bytes: 0 };
  }

  static async begin(context: CommandContext, sought: Sought, withinMs: number): Promise<TracesSearch> {
    const search = new TracesSearch(context, sought, withinMs, await context.line.openClaw(context));
    await search.#look();
    return search;
  }

  async receipt(): Promise<Receipt> {
    const { shell, options } = this.#context;
    const { held, forgotten, phrases, inMemory } = this.#sought;
    const { since = 0 } = held ?? {};
    return {
      ...{ writtenAt: shell.now(), caller: options.caller, takenOut: this.#takenOut },
      ...{ remaining: this.#found, inMemory: inMemory?.keys ?? [], searched: this.#place.stateDir },
      backups: this.#copies.filter(({ kind, at }) => kind === "backup" && Date.parse(at) >= since),
      isBlind: phrases.isEmpty,
      notLookedFor: notLookedFor({
        ...{ isPartial: held?.isPartial === true, unreadable: held?.unreadable ?? 0 },
        ...{ hasRecords: held?.hasRecords === true, leftOut: phrases.leftOut },
      }),
      notKnown: notKnown(this.#gaps),
      ...defined({ until: held?.until, forgotten: forgotten?.dryRun ? undefined : forgotten }),
    };
  }

  /** The list; on a terminal, the places in notes one by one; then the receipt. */
  async show(): Promise<void> {
    const { output, shell } = this.#context;
    const notes = this.#found.found.filter(({ isEditable }) => isEditable).map(({ path }) => path);
    const isDryRun = this.#sought.forgotten?.dryRun === true;
    if (isPersonAt(shell) && !isDryRun && notes.length > 0) {
      for (const line of tracesLines(this.#found.found)) await output.note(line);
      for (const path of notes) await this.#offer(path);
      if (this.#takenOut.length > 0) {
        await this.#refreshIndex();
        await this.#look();
      }
    }
    for (const line of receiptLines(await this.receipt())) await output.line(line);
  }

  async #look(): Promise<void> {
    const { phrases, inMemory } = this.#sought;
    const { databasePath, keyPath, driver, server } = await this.#context.line.memoryOptions(this.#context);
    const { copies = [] } = await readNotes(keyPath);
    const gaps: Readonly<Record<Gap, boolean>> = {
      memory: inMemory === undefined && !phrases.isEmpty,
      someFacts: inMemory?.isPartial === true,
      remote: inMemory?.isRemote === true,
      server: server !== undefined,
      olderCopies: copies.length >= MOST_COPIES,
    };
    this.#gaps = GAPS.filter((gap) => gaps[gap]);
    const there = copies.map(async (copy) => ({
      ...copy,
      isThere: (await changedAt(copy.path)) !== undefined,
    }));
    this.#copies = [...(await Promise.all(there)), ...(await databaseCopies(databasePath))];
    if (phrases.isEmpty) return;
    const noted = (wanted: NotedCopy["kind"]) =>
      copies.filter(({ kind }) => kind === wanted).map(({ path }) => path);
    const skips = [keyPath, ...["", "-wal", "-shm", "-journal"].map((ending) => databasePath + ending)];
    const progress = await showCount(this.#context.shell, { unit: "bytes" });
    try {
      this.#found = await findTraces({
        ...{ place: this.#place, phrases, driver, skips },
        ...{ exports: noted("export"), imports: noted("import") },
        outside: await this.#outside(databasePath),
        ...{ withinMs: this.#withinMs, onBytes: progress.update },
      });
    } finally {
      progress.stop();
    }
  }

  #outside(databasePath: string): Promise<PlacesOutside> {
    const { env, homeDir } = this.#context.shell;
    return placesOutside(this.#place, { databasePath, homeDir: env.HOME ?? homeDir });
  }

  /** Asks for each place of a note, and writes the note once. */
  async #offer(path: string): Promise<void> {
    const { output, shell } = this.#context;
    try {
      const note = await readNote(path, this.#sought.phrases);
      const agreed: Place[] = [];
      for (const place of note.places) {
        for (const line of diffLines(note, place)) await output.note(line);
        if (await agreesAt(shell, "Take these lines out?")) agreed.push(place);
      }
      if (agreed.length > 0) await this.#takeOut(note, agreed);
    } catch (error) {
      if (!isHelmdeckError(error)) throw error;
      await output.note(harmlessLine(error.message));
    }
  }

  async #takeOut(note: ReadNote, agreed: readonly Place[]): Promise<void> {
    await takeOut(note, agreed);
    const lines = agreed.reduce((sum, { first, last }) => sum + last - first + 1, 0);
    this.#takenOut.push({ path: note.path, lines });
  }

  /** Only OpenClaw changes its index. */
  async #refreshIndex(): Promise<void> {
    const { shell, output } = this.#context;
    const env = { ...shell.env, OPENCLAW_STATE_DIR: this.#place.stateDir };
    const options = { env, timeout: INDEX_TIMEOUT_MS, maxBuffer: 16 * 1024 * 1024 };
    await output.note("OpenClaw indexes its notes again …");
    await promisify(execFile)("openclaw", ["memory", "index"], options).catch(() =>
      output.note("OpenClaw did not index its notes again. Later: openclaw memory index"),
    );
  }
}

/** Files beside the database that a restore or a person left; they hold what it held then, encrypted. */
async function databaseCopies(databasePath: string): Promise<readonly KeptCopy[]> {
  const names = await copiesBeside(databasePath);
  const copies = names.map(async (name): Promise<KeptCopy> => {
    const path = join(dirname(databasePath), name);
    const at = new Date((await changedAt(path)) ?? 0).toISOString();
    return { kind: "backup", path, at, isThere: true };
  });
  return Promise.all(copies);
}

/** Undefined for a file that is not there. */
async function changedAt(path: string): Promise<number | undefined> {
  return lstat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );
}
