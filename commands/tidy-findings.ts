/** `tidy`: shows what a review found, one finding after the other on a terminal, and does what the person decides. */
import type { FactView, Memory, Review, ReviewFinding } from "../app/memory.ts";
import type { Voice } from "../app/presenters/presented.ts";
import {
  againArguments,
  apartArguments,
  apartPreview,
  findingTitle,
  foundText,
  keepArguments,
  mergePreview,
  NOTHING_TO_TIDY,
  nameInShell,
  sourceText,
} from "../app/presenters/tidy-text.ts";
import { expiryFrom, firstWords, localMinute } from "../app/presenters/words.ts";
import { forgetFact, type Merge, mergeFacts, toKeep } from "../app/tidying.ts";
import { toWire } from "../app/wire/codec.ts";
import { defined } from "../engine/defined.ts";
import { isHelmdeckError } from "../engine/errors.ts";
import { harmlessLine } from "../engine/facts/hostile-text.ts";
import { isKnownTime } from "../engine/rfc3339.ts";
import { type CommandContext, missingFact, present, voiceOf } from "./command-line.ts";
import { EXIT_DONE } from "./exit-codes.ts";
import { type Dialog, isPersonAt, openDialog } from "./input.ts";
import { withMemory, withMemoryToChange } from "./with-memory.ts";

export interface TidyOptions {
  readonly dryRun?: boolean;
  readonly limit: number;
  readonly keep?: string;
  readonly over?: readonly string[];
  readonly apart?: readonly string[];
  readonly askAgain?: readonly string[];
  readonly upTo?: number;
}

/** Lists, asks, or does what the options say. */
export function tidyCommand(context: CommandContext, options: TidyOptions): Promise<number> {
  const { keep, over = [], apart, askAgain, upTo, dryRun = false } = options;
  const conditions = defined({ upTo });
  if (keep !== undefined) return keepCommand(context, { key: keep, over, ...conditions }, dryRun);
  if (apart !== undefined) return apartCommand(context, { keys: apart, ...conditions }, dryRun);
  if (askAgain !== undefined) return apartCommand(context, { keys: askAgain, apart: false }, dryRun);
  const isAsked = !dryRun && context.options.json !== true && isPersonAt(context.shell);
  return isAsked ? askAboutAll(context) : listCommand(context, options.limit);
}

const BY_HAND = { surface: "cli", isPerson: true } as const;

async function keepCommand(context: CommandContext, merge: Merge, dryRun: boolean): Promise<number> {
  const { output, options } = context;
  if (dryRun)
    return previewCommand(context, [merge.key, ...merge.over], ([fact, ...others]) =>
      fact === undefined ? "" : mergePreview(fact, others),
    );
  const stored = await withMemoryToChange(context, (memory) =>
    mergeFacts(memory, options.caller, merge, BY_HAND),
  );
  if (options.json) await output.json(toWire(stored));
  else await output.line(keptText(stored, voiceOf(context)));
  return EXIT_DONE;
}

async function apartCommand(
  context: CommandContext,
  asked: { readonly keys: readonly string[]; readonly apart?: boolean; readonly upTo?: number },
  dryRun: boolean,
): Promise<number> {
  const { output, options } = context;
  if (dryRun)
    return previewCommand(context, asked.keys, asked.apart === false ? () => ASKED_AGAIN : apartPreview);
  const done = await withMemoryToChange(context, (memory) => memory.keepApart(options.caller, asked));
  if (options.json) await output.json(toWire(done));
  else await output.line(done.apart ? apartText(done.keys.map(asNamed), voiceOf(context)) : ASKED_AGAIN);
  return EXIT_DONE;
}

const ASKED_AGAIN =
  "They are shown beside each other again, if they still say the same or contradict each other.";

/** Without writing. */
function previewCommand(
  context: CommandContext,
  names: readonly string[],
  text: (facts: readonly FactView[]) => string,
): Promise<number> {
  const { output, options } = context;
  return withMemory(context, async (memory) => {
    const facts: FactView[] = [];
    for (const key of names) {
      const fact = await memory.getFact(options.caller, { key });
      if (fact === undefined) throw missingFact(context);
      facts.push(fact);
    }
    await output.line(`Nothing is changed. ${text(facts)}`);
    return EXIT_DONE;
  });
}

function listCommand(context: CommandContext, limit: number): Promise<number> {
  const { output, options } = context;
  return withMemory(context, async (memory) => {
    const review = await memory.review(options.caller, { limit });
    if (options.json) await output.json(toWire(review));
    else await present(context, listed(review, voiceOf(context)));
    return EXIT_DONE;
  });
}

function listed({ findings, found, revision, nextCursor }: Review, voice: Voice) {
  if (findings.length === 0) return { answer: [], notes: [NOTHING_TO_TIDY] };
  const answer = findings.flatMap((finding) => [
    findingTitle(finding),
    ...finding.facts.flatMap((fact) => factLines(fact, "  ", voice)),
    ...commandsOf(finding, revision, voice).map((command) => `  $ ${command}`),
    "",
  ]);
  const more =
    nextCursor === undefined ? [] : [`These are the first ${findings.length}; --limit shows more.`];
  return { answer, notes: [`Found ${foundText(found)}.`, ...more] };
}

/** What settles it, to copy. */
function commandsOf(finding: ReviewFinding, revision: number, { command }: Voice): readonly string[] {
  const { kind, facts } = finding;
  const kept = toKeep(finding);
  if (kept === undefined) return [];
  if (kind === "expiring") return [`${command} ${kept.pinned ? "pin" : "renew"} ${nameInShell(kept)}`];
  const others = facts.filter((fact) => fact !== kept);
  return [keepArguments(kept, others, revision), apartArguments(facts, revision)].map(
    (line) => `${command} ${line}`,
  );
}

/** The width of a terminal. */
const VALUE_CHARACTERS = 74;

function factLines(fact: FactView, lead: string, { now, style }: Voice): readonly string[] {
  const { key, value, pinned, category, updatedAt, expiresAt } = fact;
  const about = [
    ...(pinned ? ["pinned"] : []),
    harmlessLine(category),
    isKnownTime(updatedAt) ? localMinute(updatedAt) : "time unknown",
    ...(sourceText(fact) === "" ? [] : [harmlessLine(sourceText(fact))]),
    ...(expiresAt === undefined ? [] : [`expires ${expiryFrom(now, expiresAt)}`]),
  ];
  return [
    `${lead}${style("bold", harmlessLine(key))}  ${style("dim", `(${about.join(", ")})`)}`,
    `${" ".repeat(lead.length + 2)}${firstWords(value, VALUE_CHARACTERS)}`,
  ];
}

/** One finding after the other, until nothing is left or the person has enough. */
async function askAboutAll(context: CommandContext): Promise<number> {
  return withMemoryToChange(context, async (memory) => {
    const dialog = openDialog(context.shell);
    try {
      await new Session(context, memory, dialog).run();
    } finally {
      dialog.close();
    }
    return EXIT_DONE;
  });
}

/** What somebody decides about a finding. `at`: which fact, from 1. */
interface Choice {
  readonly what: "k" | "b" | "f" | "s" | "q";
  readonly at?: number;
}

const CHOICE = /^([kbfsq])(?:\w*?)\s*(\d{1,2})?$/i;

class Session {
  readonly #context: CommandContext;
  readonly #voice: Voice;
  readonly #memory: Memory;
  readonly #dialog: Dialog;
  /** Findings as they were shown. */
  readonly #passed = new Set<string>();
  /** Keys of facts that were changed since the last review: findings with them are reviewed again. */
  readonly #touched = new Set<string>();

  constructor(context: CommandContext, memory: Memory, dialog: Dialog) {
    this.#context = context;
    this.#voice = voiceOf(context);
    this.#memory = memory;
    this.#dialog = dialog;
  }

  async run(): Promise<void> {
    let cursor: string | undefined;
    for (let isFirst = true; ; isFirst = false) {
      const review = await this.#memory.review(this.#voice.caller, defined({ cursor }));
      if (isFirst)
        await this.#tell(review.findings.length === 0 ? NOTHING_TO_TIDY : `${foundText(review.found)}.`);
      if (!(await this.#askAbout(review))) return;
      cursor = this.#touched.size > 0 ? undefined : review.nextCursor;
      if (this.#touched.size === 0 && cursor === undefined) break;
      this.#touched.clear();
    }
    await this.#tell("That is all.");
  }

  /** False: the person has enough. */
  async #askAbout({ findings, revision }: Review): Promise<boolean> {
    for (const finding of findings) {
      const id = idOf(finding);
      if (this.#passed.has(id) || finding.facts.some(({ key }) => this.#touched.has(key))) continue;
      this.#passed.add(id);
      if (!(await this.#settle(finding, revision))) return false;
    }
    return true;
  }

  async #settle(finding: ReviewFinding, revision: number): Promise<boolean> {
    const kept = toKeep(finding);
    await this.#tell(`\n${findingTitle(finding)}`);
    for (const [at, fact] of finding.facts.entries())
      for (const line of factLines(fact, ` ${at + 1}  `, this.#voice)) await this.#tell(line);
    for (;;) {
      const typed = await this.#dialog.ask(`${menuOf(finding, kept)} > `);
      const choice = typed === undefined ? { what: "q" as const } : choiceOf(typed, finding, kept);
      if (choice === undefined) continue;
      if (choice.what === "q") return false;
      if (choice.what === "s") return true;
      if (await this.#perform(choice, finding, revision)) return true;
    }
  }

  /** False: nothing was done, and the person chooses again. */
  async #perform({ what, at = 1 }: Choice, finding: ReviewFinding, revision: number): Promise<boolean> {
    const fact = finding.facts[at - 1];
    if (fact === undefined) return false;
    const { preview, perform } = this.#actionOf(what, finding, fact, revision);
    if (!(await this.#agrees(preview, what === "f"))) return false;
    try {
      await this.#context.output.line(await perform());
      for (const { key } of finding.facts) this.#touched.add(key);
    } catch (error) {
      if (!isHelmdeckError(error)) throw error;
      await this.#tell(harmlessLine(error.message));
      if (error.code === "changed_meanwhile") for (const { key } of finding.facts) this.#touched.add(key);
    }
    return true;
  }

  #actionOf(what: Choice["what"], { kind, facts }: ReviewFinding, fact: FactView, upTo: number) {
    const [memory, { caller, command }] = [this.#memory, this.#voice];
    const { key } = fact;
    const name = nameInShell(fact);
    if (what === "f")
      return {
        preview: `${harmlessLine(key)} is deleted with its history, for good. No undo brings it back.`,
        perform: async () => forgottenText(key, await forgetFact(memory, caller, fact, { upTo })),
      };
    if (what === "b")
      return {
        preview: apartPreview(facts),
        perform: async () => {
          await memory.keepApart(caller, { keys: facts.map((one) => one.key), upTo });
          return apartText(facts, this.#voice);
        },
      };
    if (kind === "expiring") return this.#keeping(fact);
    const others = facts.filter((one) => one !== fact);
    return {
      preview: mergePreview(fact, others),
      perform: async () => {
        const merge = { key, over: others.map((one) => one.key), upTo };
        const stored = await mergeFacts(memory, caller, merge, BY_HAND);
        return `Kept ${harmlessLine(stored.key)}. To undo this: ${command} undo ${name}`;
      },
    };
  }

  /** A pinned fact is kept by pinning it again. */
  #keeping({ key, path, pinned, revision, expiresAt = 0 }: FactView) {
    const [memory, { caller, command, now }] = [this.#memory, this.#voice];
    const name = nameInShell({ key, path });
    const asked = { key, ...defined({ ifRevision: revision }) };
    const person = { ...BY_HAND, isPerson: true } as const;
    const seconds = Math.max(3_600, Math.round((expiresAt - now) / 1_000));
    return {
      preview: `${harmlessLine(key)} is kept ${pinned ? "for another year" : "as long as a new fact"}.`,
      perform: async () => {
        await (pinned ? memory.pinFact(caller, asked, person) : memory.renewFact(caller, asked, person));
        return `Kept ${harmlessLine(key)}. To undo this: ${command} renew ${name} --ttl ${seconds}`;
      },
    };
  }

  /** Enter agrees, but not to a deletion. */
  async #agrees(preview: string, isForGood: boolean): Promise<boolean> {
    await this.#tell(preview);
    const typed = (await this.#dialog.ask(isForGood ? "Delete? [y/N] " : "Do it? [Y/n] "))?.trim();
    return typed !== undefined && (/^y(es)?$/i.test(typed) || (typed === "" && !isForGood));
  }

  #tell(line: string): Promise<void> {
    return this.#context.output.note(line);
  }
}

function idOf({ kind, facts }: ReviewFinding): string {
  return JSON.stringify([kind, ...facts.map(({ key, revision }) => [key, revision])]);
}

function menuOf({ kind, facts }: ReviewFinding, kept: FactView | undefined): string {
  if (kind === "expiring") return "k keep it, f forget it, s skip, q quit";
  const number = kept === undefined ? 1 : facts.indexOf(kept) + 1;
  const both = facts.length === 2 ? "both" : "all";
  return `k keep ${number} over the others (k2: keep 2), b keep ${both}, f1 forget 1, s skip, q quit`;
}

/** Undefined: not understood. Without a number, the fact to keep is the suggested one, and which one to forget must be said. */
function choiceOf(typed: string, finding: ReviewFinding, kept: FactView | undefined): Choice | undefined {
  const [, letter, number] = CHOICE.exec(typed.trim()) ?? [];
  if (letter === undefined) return undefined;
  const what = letter.toLowerCase() as Choice["what"]; // as matched
  const { kind, facts } = finding;
  if (what === "b" && kind === "expiring") return undefined;
  if (number !== undefined) return { what, at: Number(number) };
  if (what === "f" && facts.length > 1) return undefined;
  return { what, at: kept === undefined ? 1 : facts.indexOf(kept) + 1 };
}

interface Named {
  readonly key: string;
  readonly path: string;
}

/** A key that cannot be typed in a shell is shown by the command's own listing. */
function asNamed(key: string): Named {
  return { key, path: key };
}

function keptText(
  { key, path, superseded = [] }: Named & { readonly superseded?: readonly string[] },
  { command }: Voice,
) {
  const others = superseded.map((other) => harmlessLine(other)).join(", ");
  const over = others === "" ? "" : ` over ${others}`;
  return `Kept ${harmlessLine(key)}${over}. To undo this: ${command} undo ${nameInShell({ key, path })}`;
}

function apartText(facts: readonly Named[], { command }: Voice): string {
  return `Kept ${facts.map(({ key }) => harmlessLine(key)).join(" and ")}. To undo this: ${command} ${againArguments(facts)}`;
}

function forgottenText(key: string, { deleted }: { readonly deleted: number }): string {
  const name = harmlessLine(key);
  return deleted > 0
    ? `Forgot ${name}, for good.`
    : `${name} stays: somebody changed it meanwhile, or it is gone.`;
}
