/**
 * Random operations of subjects with hostile names, on every surface of one memory, with a model of each subject's contents.
 *
 * Every stored value contains a mark that identifies its subject. No answer, refusal or document may show another subject's
 * mark. If it shows all contents, its marks must equal the model's. After each change, the test also compares the contents of
 * the subject and of another subject with the model.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import { openTestMemory, tempPlace } from "../app/fixtures/memories.ts";
import { sized } from "../run/size.ts";
import { type Asker, COMMON_WORD, SHARED_KEY, type Surface, surfacesOver } from "./askers.ts";
import { HOSTILE_NAMES } from "./names.ts";

const OPERATIONS = sized(5_000, 500_000);
const OPERATIONS_OF_A_RUN = 200;
const SUBJECTS_OF_A_RUN = 6;
const ALIKE_OF_A_RUN = 4;
const KEYS = [SHARED_KEY, "a/b", "two words", "%", "_", "*", "key:x", "日本", "pack_history/lint"];
const CATEGORIES = ["user_facts", "work"];
const MARK = /own(\d+)no\d+x/g;

type Kind = "store" | "run" | "call" | "forget" | "fact" | "facts" | "everything" | "some";
interface Operation {
  readonly kind: Kind;
  readonly asker: number;
  readonly other: number;
  readonly surface: number;
  readonly key: string;
  readonly category: string;
  readonly scope: string;
  readonly dryRun: boolean;
}

const operations = fc.record({
  kind: fc.oneof(
    ...(
      [
        ["store", 6],
        ["run", 1],
        ["call", 1],
        ["forget", 2],
        ["fact", 4],
        ["facts", 3],
        ["everything", 3],
        ["some", 8],
      ] as const
    ).map(([kind, weight]) => ({ arbitrary: fc.constant<Kind>(kind), weight })),
  ),
  asker: fc.nat(SUBJECTS_OF_A_RUN - 1),
  other: fc.nat(SUBJECTS_OF_A_RUN - 1),
  surface: fc.nat(1_000),
  key: fc.constantFrom(...KEYS),
  category: fc.constantFrom(...CATEGORIES),
  scope: fc.constantFrom("key", "category", "packs", "tools", "all", "everything"),
  dryRun: fc.boolean(),
});
/** Similar names are neighbours in the list. */
const alike = fc
  .nat(HOSTILE_NAMES.length - ALIKE_OF_A_RUN)
  .map((from) => HOSTILE_NAMES.slice(from, from + ALIKE_OF_A_RUN));
const names = fc
  .tuple(alike, fc.shuffledSubarray([...HOSTILE_NAMES], { minLength: SUBJECTS_OF_A_RUN }))
  .map(([near, others]) => [...new Set([...near, ...others])].slice(0, SUBJECTS_OF_A_RUN));
const runs = fc.tuple(
  names,
  fc.array(operations, { minLength: OPERATIONS_OF_A_RUN, maxLength: OPERATIONS_OF_A_RUN }),
);

/** A failed run only reports its seed: a list of two hundred operations would not help. */
const seeds = fc.noShrink(fc.nat(2 ** 31 - 1));

/** Each subject's contents, by marks. */
class Model {
  readonly #facts = new Map<string, Map<string, { readonly mark: string; readonly category: string }>>();
  readonly #runs = new Map<string, { readonly packs: Set<string>; readonly tools: Set<string> }>();
  #marks = 0;

  newMark(subject: string): string {
    this.#marks++;
    return `own${HOSTILE_NAMES.indexOf(subject)}no${this.#marks}x`;
  }

  stored(subject: string, key: string, mark: string, category: string): void {
    this.#of(subject).facts.set(key, { mark, category });
  }

  ran(subject: string, what: "packs" | "tools", mark: string): void {
    this.#of(subject).runs[what].add(mark);
  }

  forgot(subject: string, { scope, key, category }: Operation): void {
    const { facts, runs } = this.#of(subject);
    if (scope === "key") facts.delete(key);
    if (scope === "category") {
      for (const [of, fact] of facts) if (fact.category === category) facts.delete(of);
    }
    if (scope === "all" || scope === "everything") facts.clear();
    if (scope === "packs" || scope === "all" || scope === "everything") runs.packs.clear();
    if (scope === "tools" || scope === "all" || scope === "everything") runs.tools.clear();
  }

  fact(subject: string, key: string): readonly string[] {
    const fact = this.#of(subject).facts.get(key);
    return fact === undefined ? [] : [fact.mark];
  }

  facts(subject: string): readonly string[] {
    return [...this.#of(subject).facts.values()].map(({ mark }) => mark);
  }

  everything(subject: string): readonly string[] {
    const { packs, tools } = this.#of(subject).runs;
    return [...this.facts(subject), ...packs, ...tools];
  }

  #of(subject: string) {
    const facts = this.#facts.get(subject) ?? new Map<string, { mark: string; category: string }>();
    const runs = this.#runs.get(subject) ?? { packs: new Set<string>(), tools: new Set<string>() };
    this.#facts.set(subject, facts);
    this.#runs.set(subject, runs);
    return { facts, runs };
  }
}

const marksIn = (text: string) => [...new Set([...text.matchAll(MARK)].map(([mark]) => mark))].sort();
const sorted = (marks: readonly string[]) => [...marks].sort();

/** Chooses by weight among the surfaces that support the operation and accept the name. */
function surfaceFor(surfaces: readonly Surface[], subject: string, kind: Kind, choice: number): Surface {
  const able = surfaces.filter(
    (one) => one.takes(subject) && (kind === "run" || kind === "call" || one.as(subject)[kind] !== undefined),
  );
  const weighted = able.flatMap((one) => Array.from({ length: one.weight }, () => one));
  const chosen = weighted[choice % weighted.length];
  if (chosen === undefined) throw new Error(`no surface can ${kind}`);
  return chosen;
}

class Run {
  readonly #memory: OpenMemory;
  readonly #surfaces: readonly Surface[];
  readonly #names: readonly string[];
  readonly #model = new Model();
  /** Surfaces that have shown a subject its own contents. */
  readonly shownBy = new Set<string>();

  constructor(memory: OpenMemory, surfaces: readonly Surface[], names: readonly string[]) {
    this.#memory = memory;
    this.#surfaces = surfaces;
    this.#names = names;
  }

  async perform(operation: Operation): Promise<void> {
    const subject = this.#names[operation.asker] ?? "";
    const { kind } = operation;
    const surface = surfaceFor(this.#surfaces, subject, kind, operation.surface);
    const asker = surface.as(subject);
    const where = `${kind} as ${JSON.stringify(subject)} by ${surface.name}`;
    if (kind === "store" || kind === "run" || kind === "call" || kind === "forget") {
      await this.#change(operation, subject, asker, where);
      for (const name of [subject, this.#names[operation.other] ?? ""]) await this.#compare(name, where);
      return;
    }
    const { text, expected } = await this.#ask(operation, subject, asker);
    if (marksIn(text).length > 0) this.shownBy.add(surface.name);
    if (expected === undefined) expect([where, foreign(subject, text)]).toEqual([where, []]);
    else expect([where, marksIn(text)]).toEqual([where, sorted(expected)]);
  }

  async #change(operation: Operation, subject: string, asker: Asker, where: string): Promise<void> {
    const { kind, key, category, scope, dryRun } = operation;
    if (kind === "forget") {
      const named = scope === "key" ? `key:${key}` : scope === "category" ? `category:${category}` : scope;
      const text = (await asker.forget?.(named, dryRun)) ?? "";
      expect([where, foreign(subject, text)]).toEqual([where, []]);
      if (!dryRun) this.#model.forgot(subject, operation);
      return;
    }
    const mark = this.#model.newMark(subject);
    if (kind === "run") {
      await this.#memory.recordPackRun(subject, { pack: "lint", outcome: mark, at_unix: AT_UNIX });
      this.#model.ran(subject, "packs", mark);
      return;
    }
    if (kind === "call") {
      const call = { tool: "exec", outcome: "ok", at_unix: AT_UNIX, inputs: { path: mark } } as const;
      await this.#memory.recordToolCall(subject, call);
      this.#model.ran(subject, "tools", mark);
      return;
    }
    const text = (await asker.store?.({ key, value: `The ${COMMON_WORD} is ${mark}.`, category })) ?? "";
    expect([where, foreign(subject, text)]).toEqual([where, []]);
    this.#model.stored(subject, key, mark, category);
  }

  async #ask({ kind, key, surface }: Operation, subject: string, asker: Asker) {
    if (kind === "fact")
      return { text: (await asker.fact?.(key)) ?? "", expected: this.#model.fact(subject, key) };
    if (kind === "facts")
      return { text: (await asker.facts?.()) ?? "", expected: this.#model.facts(subject) };
    if (kind === "everything")
      return { text: (await asker.everything?.()) ?? "", expected: this.#model.everything(subject) };
    const { some = [] } = asker;
    return { text: (await some[surface % some.length]?.()) ?? "", expected: undefined };
  }

  /** Reads from the store, which is fastest. */
  async #compare(subject: string, after: string): Promise<void> {
    const store = this.#surfaces.find(({ name }) => name === "store");
    const text = (await store?.as(subject).everything?.()) ?? "";
    expect([after, subject, marksIn(text)]).toEqual([
      after,
      subject,
      sorted(this.#model.everything(subject)),
    ]);
  }
}

const AT_UNIX = Math.floor(Date.now() / 1_000) - 60;

function foreign(subject: string, text: string): readonly string[] {
  const own = `own${HOSTILE_NAMES.indexOf(subject)}no`;
  return marksIn(text).filter((mark) => !mark.startsWith(own));
}

// verifies P-alone-subjects
describe(`${OPERATIONS} random operations of subjects with hostile names`, () => {
  test("each show and change the subject's own data only", async () => {
    const place = await tempPlace();
    const memory = await openTestMemory({ ...place, now: Date.now });
    const surfaces = await surfacesOver(memory, place, HOSTILE_NAMES);
    let shownBy = new Set<string>();
    try {
      await fc.assert(
        fc.asyncProperty(seeds, async (seed) => {
          const [[names, steps] = [[], []]] = fc.sample(runs, { seed, numRuns: 1 });
          const run = new Run(memory, surfaces.all, names);
          for (const step of steps) await run.perform(step);
          shownBy = shownBy.union(run.shownBy);
          for (const name of names) await memory.forget(name, { scope: "everything" });
        }),
        { numRuns: OPERATIONS / OPERATIONS_OF_A_RUN },
      );
      expect([...shownBy].sort()).toEqual(surfaces.all.map(({ name }) => name).sort());
    } finally {
      await surfaces.close();
    }
  });
});
