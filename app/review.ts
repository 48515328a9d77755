/**
 * What a memory could be rid of, or asks about: duplicates, conflicts, near-copies, similar facts, and what expires soon. Facts
 * that are kept apart, although they say the same or contradict each other, are not asked about again.
 */
import { ANSWER_LIMITS, requireCount } from "../engine/answer-limits.ts";
import { BoundedMap } from "../engine/bounded-map.ts";
import { defined } from "../engine/defined.ts";
import { HelmdeckError, invalidField, partlyDone } from "../engine/errors.ts";
import { APART_LIMITS, askingAgain, keepingApart } from "../engine/facts/apart.ts";
import { importsOf } from "../engine/facts/import-tag.ts";
import { areApart, isPinned } from "../engine/facts/marks.ts";
import { EXPIRING_WITHIN_MS } from "../engine/facts/renewal.ts";
import { pagesOf } from "../engine/pages-of.ts";
import type { Entry, EntryMeta, UnixMs } from "../engine/store/memory-store.ts";
import type { Namespace } from "../engine/store/namespace.ts";
import { isPersons } from "../engine/store/writer.ts";
import { makeSlices } from "../engine/timing.ts";
import type { Claim } from "../recall/claims.ts";
import { isNearCopy } from "../recall/conflicts.ts";
import { factView, keyOfFact, unlessUnreadable } from "./fact-view.ts";
import type {
  ApartFacts,
  ApartInput,
  FactView,
  Review,
  ReviewFinding,
  ReviewKind,
  ReviewQuery,
} from "./memory.ts";
import { claimOf, digestOfText } from "./same-text.ts";
import type { UseCaseContext } from "./use-case-context.ts";

/** Values opened at a time. */
const STEP = 100;
/** A page ends early at this size, so that no answer takes hundreds of megabytes. */
const PAGE_BYTES = 1_024 * 1_024;
/** A text with more similar ones is one of a series. */
const MOST_SIMILAR = 3;
/** Memories to cache, without values. */
const MOST_MEMORIES = 8;
/** Expiry does not change the revision, so a memory is looked through again after this time. */
const FRESH_MS = 60_000;

/** A fact without its value. */
interface Seen extends Pick<EntryMeta, "id" | "key" | "revision" | "tags" | "expiresAt"> {
  /** The same for values that say the very same (app/same-text.ts). */
  readonly text: string;
  readonly source: string;
  readonly byPerson: boolean;
  /** Absent for a long value. */
  readonly claim?: Claim;
}

type Seens = readonly Seen[];

interface Found {
  readonly kind: ReviewKind;
  /** Newest first. */
  readonly facts: Seens;
}

interface Reviewed {
  readonly revision: number;
  readonly at: UnixMs;
  readonly found: Promise<readonly Found[]>;
}

/** Looks through a memory again only after a change, and once for concurrent requests. */
export class Reviews {
  readonly #context: UseCaseContext;
  readonly #reviewed = new BoundedMap<Namespace, Reviewed>(MOST_MEMORIES);

  constructor(context: UseCaseContext) {
    this.#context = context;
  }

  /** Throws `invalid_input`. */
  async of(namespace: Namespace, { limit, cursor }: ReviewQuery): Promise<Review> {
    const most = requireCount("limit", limit, ANSWER_LIMITS.findings);
    const from = placeOf(cursor);
    const { revision, found: finding } = await this.#reviewedOf(namespace);
    const found = await finding;
    const page = await pageOf(this.#context, namespace, found.slice(from, from + most));
    const next = from + page.looked;
    const counts = { duplicate: 0, conflict: 0, near: 0, similar: 0, expiring: 0 };
    for (const { kind } of found) counts[kind] += 1;
    return {
      findings: page.findings,
      found: counts,
      revision,
      ...defined({ nextCursor: next < found.length ? `${next}` : undefined }),
    };
  }

  async #reviewedOf(namespace: Namespace): Promise<Reviewed> {
    const revision = await this.#context.store.revision(namespace);
    const at = this.#context.now();
    const known = this.#reviewed.get(namespace);
    if (known?.revision === revision && at - known.at < FRESH_MS) return known;
    const reviewed = { revision, at, found: lookThrough(this.#context, namespace) };
    this.#reviewed.set(namespace, reviewed);
    reviewed.found.catch(() => this.#reviewed.delete(namespace)); // callers that await it see the error
    return reviewed;
  }
}

function placeOf(cursor: string | undefined): number {
  if (!cursor) return 0;
  if (/^\d{1,9}$/.test(cursor)) return Number(cursor);
  throw invalidField("cursor", "must be the next_cursor of the previous page");
}

/** Their facts with values, as they were seen. What has changed since is left out, and so is a finding without a question. */
async function pageOf(
  { store }: UseCaseContext,
  namespace: Namespace,
  found: readonly Found[],
): Promise<{ readonly findings: readonly ReviewFinding[]; readonly looked: number }> {
  const findings: ReviewFinding[] = [];
  let looked = 0;
  let sizeBytes = 0;
  for (const { kind, facts } of found) {
    if (sizeBytes >= PAGE_BYTES) break;
    looked += 1;
    const there: FactView[] = [];
    for (const { key, revision } of facts) {
      const entry = await store.get({ namespace, origin: "fact", key }).catch(unlessUnreadable);
      if (entry?.revision !== revision) continue;
      there.push(factView(entry));
      sizeBytes += entry.value.byteLength;
    }
    if (there.length >= (kind === "expiring" ? 1 : 2)) findings.push({ kind, facts: there });
  }
  return { findings, looked };
}

/** The most certain first: the same text, the same in other words, conflicts, near-copies, similar facts; what expires soon is last. */
async function lookThrough(
  { store, recall, now }: UseCaseContext,
  namespace: Namespace,
): Promise<readonly Found[]> {
  const rest = makeSlices();
  const facts: Seen[] = [];
  const read = (more: { readonly cursor?: string }) =>
    store.list({ namespace, origin: "fact", limit: STEP, ...more });
  for await (const { entries } of pagesOf(read)) {
    for (const entry of entries) {
      facts.push(seen(entry));
      await rest();
    }
  }
  const texts = [...Map.groupBy(facts, ({ text }) => text).values()];
  const places = new Map(texts.map((text, place) => [text, place]));
  const textOf = new Map(texts.flatMap((text) => text.map(({ id }) => [id, text] as const)));
  const related = await recall.related(namespace);
  const pairs = related.flatMap(({ ids: [one, other], relation }): readonly RelatedTexts[] => {
    const [here, there] = [textOf.get(one), textOf.get(other)];
    if (here === undefined || there === undefined || here === there) return [];
    const pair =
      (places.get(here) ?? 0) < (places.get(there) ?? 0)
        ? ([here, there] as const)
        : ([there, here] as const);
    return [
      { relation: relation === "similar" && areNear(here[0], there[0]) ? "near" : relation, texts: pair },
    ];
  });
  const groups = new Groups(texts, pairs);
  return [
    ...groups.duplicates(),
    ...groups.between("contradict", "conflict"),
    ...groups.between("near", "near"),
    ...groups.between("similar", "similar", inSeries(pairs)),
    ...expiring(facts, now()),
  ];
}

/** Texts that are similar to several others, such as the ports of many services: nothing in a series is outdated by the rest. */
function inSeries(pairs: readonly RelatedTexts[]): ReadonlySet<Seens> {
  const similar = pairs.filter(({ relation }) => relation === "similar").flatMap(({ texts }) => texts);
  const counts = Map.groupBy(similar, (text) => text);
  return new Set([...counts].flatMap(([text, { length }]) => (length > MOST_SIMILAR ? [text] : [])));
}

function areNear(one: Seen | undefined, other: Seen | undefined): boolean {
  if (one?.claim === undefined || other?.claim === undefined || one.source === other.source) return false;
  return isNearCopy(one.claim, other.claim);
}

function seen({ id, key, revision, tags, expiresAt, value: bytes, writer }: Entry): Seen {
  const value = Buffer.from(bytes).toString();
  const claim = claimOf({ key, value });
  const [source = `${writer?.surface} ${writer?.agent}`] = importsOf(tags);
  const byPerson = isPersons({ writer });
  const fields = { id, key, revision, tags, byPerson, ...defined({ expiresAt, claim }) };
  return { ...fields, text: digestOfText(value), source };
}

interface RelatedTexts {
  readonly relation: "contradict" | "same" | "near" | "similar";
  /** The facts of each text; the text with the newer fact first. */
  readonly texts: readonly [Seens, Seens];
}

/** Texts that say the same, each around its newest one: in a longer chain the ends may say something else. */
class Groups {
  readonly #texts: readonly Seens[];
  readonly #pairs: readonly RelatedTexts[];
  /** The newest text of a text's group. */
  readonly #heads = new Map<Seens, Seens>();

  constructor(texts: readonly Seens[], pairs: readonly RelatedTexts[]) {
    this.#texts = texts;
    const places = new Map(texts.map((text, place) => [text, place]));
    const order = ({ texts: [one, other] }: RelatedTexts) =>
      (places.get(one) ?? 0) * texts.length + (places.get(other) ?? 0);
    this.#pairs = pairs.toSorted((one, other) => order(one) - order(other));
    for (const {
      relation,
      texts: [one, other],
    } of this.#pairs) {
      if (relation !== "same" || this.#headOf(one) !== one || this.#heads.has(other)) continue;
      this.#heads.set(one, one).set(other, one);
    }
  }

  /** The same text first, then those with the most copies. */
  duplicates(): readonly Found[] {
    const groups = Map.groupBy(this.#texts, (text) => this.#headOf(text));
    const found = [...groups.values()].flatMap((texts) => {
      if (texts.length === 1 && texts[0]?.length === 1) return []; // most of them
      const facts = asked(texts.flat());
      return facts.length < 2 ? [] : [{ kind: "duplicate", facts } as const];
    });
    const isOneText = ({ facts }: Found) => new Set(facts.map(({ text }) => text)).size === 1;
    return found.toSorted(
      (one, other) =>
        Number(isOneText(other)) - Number(isOneText(one)) || other.facts.length - one.facts.length,
    );
  }

  /** One finding for two groups, of a person's fact of each, or the newest. */
  between(
    relation: RelatedTexts["relation"],
    kind: ReviewKind,
    leftOut: ReadonlySet<Seens> = new Set(),
  ): readonly Found[] {
    const known = new Set<string>();
    return this.#pairs.flatMap(({ relation: its, texts }) => {
      const [one, other] = texts.map((text) => this.#headOf(text)[0]?.id);
      if (its !== relation || one === other || known.has(`${one} ${other}`)) return [];
      if (texts.some((text) => leftOut.has(text))) return [];
      known.add(`${one} ${other}`).add(`${other} ${one}`);
      const [here = [], there = []] = texts.map((text) => text.slice(0, MOST_LOOKED_AT));
      if (here.some((mine) => there.some((theirs) => areApart(mine, theirs)))) return [];
      const facts = [here, there].flatMap(
        (text) => text.find(({ byPerson }) => byPerson) ?? text.slice(0, 1),
      );
      return [{ kind, facts }];
    });
  }

  #headOf(text: Seens): Seens {
    return this.#heads.get(text) ?? text;
  }
}

/** One more than a fact can be kept apart from. */
const MOST_LOOKED_AT = APART_LIMITS.perFact + 1;

/** Those of the same facts that somebody has not kept apart from all others, as many as can be merged: pinned, persons', the newest. */
function asked(same: Seens): Seens {
  const looked = same.slice(0, MOST_LOOKED_AT);
  const open = looked.filter((one) => looked.some((other) => one !== other && !areApart(one, other)));
  const rank = (one: Seen) => 2 * Number(isPinned(one)) + Number(one.byPerson);
  const kept = open.toSorted((one, other) => rank(other) - rank(one));
  return open.filter((one) => kept.slice(0, APART_LIMITS.together).includes(one));
}

/** Pinned ones first, then the soonest. */
function expiring(facts: Seens, now: UnixMs): readonly Found[] {
  const ending = facts.filter(
    ({ expiresAt }) => expiresAt !== undefined && expiresAt < now + EXPIRING_WITHIN_MS,
  );
  const sorted = ending.toSorted(
    (one, other) =>
      Number(isPinned(other)) - Number(isPinned(one)) || (one.expiresAt ?? 0) - (other.expiresAt ?? 0),
  );
  return sorted.map((fact) => ({ kind: "expiring", facts: [fact] }));
}

/**
 * Each fact gets a mark for every other one. Two are apart only while both have theirs, so a write in between leaves the question open.
 *
 * Throws `not_found`, `changed_meanwhile`, and `invalid_input` beyond a limit.
 */
export async function keepApart(
  context: UseCaseContext,
  namespace: Namespace,
  { keys: names, apart = true, upTo }: ApartInput,
): Promise<ApartFacts> {
  const facts = await Promise.all(checkedNames(names).map((name) => factNamed(context, namespace, name)));
  for (const [marked, { ref, id }] of facts.entries()) {
    const others = facts.filter((other) => other.id !== id).map((other) => other.id);
    const decide = apart ? keepingApart(others, upTo) : askingAgain(others);
    try {
      if ((await context.store.renew(ref, decide)) === undefined) throw noSuchFact();
    } catch (error) {
      if (marked === 0) throw error;
      throw partlyDone(
        error,
        `Marked: ${marked} of ${facts.length} facts. Only pairs of marked facts are settled.`,
        { marked },
      );
    }
  }
  return { keys: facts.map(({ ref }) => ref.key), apart };
}

function checkedNames(names: unknown): readonly string[] {
  const { together } = APART_LIMITS;
  const given = Array.isArray(names) ? [...new Set(names.filter((name) => typeof name === "string"))] : [];
  if (given.length >= 2 && given.length <= together) return given;
  throw invalidField("keys", `must name 2 to ${together} facts`);
}

async function factNamed(context: UseCaseContext, namespace: Namespace, name: string) {
  const key = await keyOfFact(context, namespace, name);
  if (key === undefined) throw noSuchFact();
  const ref = { namespace, origin: "fact", key } as const;
  const entry = await context.store.get(ref);
  if (entry === undefined) throw noSuchFact();
  return { ref, id: entry.id };
}

function noSuchFact(): HelmdeckError {
  return new HelmdeckError(
    "not_found",
    "There is no fact with one of these keys, or it cannot be opened. Keys are exact and case-sensitive.",
  );
}
