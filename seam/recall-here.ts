/** The recall text for the start of a phase: entries that are always loaded, then the phase's entries, within the budget. */
import { harmlessBlock, harmlessLine } from "../engine/reader.ts";
import { ALWAYS, budgetOf, type PhaseName, phaseOf, targetsOf } from "./phases.ts";
import { isOfNoProject, projectPrefix } from "./project-keys.ts";
import type { FactHere, FactsHere, FactsHereQuery, RankFacts } from "./seam-contract.ts";

export interface RecallRequest {
  /** Undefined if the project is unknown. */
  readonly project: string | undefined;
  readonly phase?: string;
  readonly query?: string;
  readonly limit?: number;
}

export interface RecallParts {
  readonly facts: FactsHere;
  readonly rank: RankFacts;
  /** Read for HARNESS_RECALL_BUDGET_<PHASE>. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface RecallText {
  readonly text: string;
  /** Why the text is empty or incomplete, one line each, for a person. */
  readonly notes: readonly string[];
}

/** The number of values decrypted at a time. */
const PAGE = 50;
/** Limit per category: more would not fit the budget, and ranking it would take seconds. */
const MOST_PER_CATEGORY = 1_000;

interface ShownEntry {
  readonly text: string;
  readonly tokens: number;
}

/** Recalls one project from one caller's memory. Read-only; passes memory errors on. */
export async function recallProject(parts: RecallParts, request: RecallRequest): Promise<RecallText> {
  const phase = phaseOf(request.phase);
  const budget = budgetOf(phase, request.limit, parts.env);
  const { facts, notes } = await gather(parts, request, phase);
  const entries = facts.map((fact) => shownEntry(fact, request.project));
  const fitting = withinBudget(entries, budget);
  if (fitting.length === 0) return { text: "", notes: [...notes, whyNothing(facts.length, phase, budget)] };
  return { text: headerOf(phase, request.project, budget, fitting.length) + textOf(fitting), notes };
}

/** In display order. */
async function gather(
  { facts, rank }: RecallParts,
  { project, query }: RecallRequest,
  phase: PhaseName,
): Promise<{ readonly facts: readonly FactHere[]; readonly notes: readonly string[] }> {
  const reading = new Reading(facts);
  const prefix = project === undefined ? undefined : projectPrefix(project);
  const always = await reading.all({ category: ALWAYS }, (key) => isOfNoProject(key) || isUnder(key, prefix));
  const targets: FactHere[] = [];
  if (prefix !== undefined) {
    for (const category of targetsOf(phase)) targets.push(...(await reading.all({ category, prefix })));
  }
  const ordered = query?.trim() ? bestFirst(targets, await rank(query, targets)) : targets;
  return { facts: [...generalFirst(always), ...ordered], notes: reading.notes() };
}

/** Reads complete categories, and counts unreadable entries. */
class Reading {
  readonly #facts: FactsHere;
  #unreadable = 0;
  #cut = 0;

  constructor(facts: FactsHere) {
    this.#facts = facts;
  }

  async all(
    query: Pick<FactsHereQuery, "category" | "prefix">,
    isWanted: (key: string) => boolean = () => true,
  ): Promise<readonly FactHere[]> {
    const found: FactHere[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.#facts.listFacts({ ...query, limit: PAGE, ...(cursor && { cursor }) });
      found.push(...page.facts.filter(({ key }) => isWanted(key)));
      this.#unreadable += page.unreadable.filter(isWanted).length;
      cursor = page.nextCursor;
    } while (cursor !== undefined && found.length < MOST_PER_CATEGORY);
    if (cursor !== undefined) this.#cut += 1;
    return found.sort(newestFirst);
  }

  notes(): readonly string[] {
    return [
      ...(this.#unreadable === 0
        ? []
        : [`${this.#unreadable} entries of this project cannot be opened; run helmdeck-memory doctor.`]),
      ...(this.#cut === 0
        ? []
        : [`Only the newest ${MOST_PER_CATEGORY} entries of each category were read.`]),
    ];
  }
}

function isUnder(key: string, prefix: string | undefined): boolean {
  return prefix !== undefined && key.startsWith(prefix);
}

/** Ties are sorted by key, so that the result is deterministic. */
function newestFirst(left: FactHere, right: FactHere): number {
  return right.updatedAt - left.updatedAt || (left.key < right.key ? -1 : 1);
}

function generalFirst(always: readonly FactHere[]): readonly FactHere[] {
  const { general = [], own = [] } = Object.groupBy(always, ({ key }) =>
    isOfNoProject(key) ? "general" : "own",
  );
  return [...general, ...own];
}

/** Entries that answer the query come first; the others keep their order. */
function bestFirst(facts: readonly FactHere[], bestKeys: readonly string[]): readonly FactHere[] {
  const places = new Map(bestKeys.map((key, place) => [key, place]));
  const placeOf = ({ key }: FactHere): number => places.get(key) ?? Number.POSITIVE_INFINITY;
  return facts.toSorted((left, right) => {
    const [a, b] = [placeOf(left), placeOf(right)];
    return a === b ? 0 : a - b;
  });
}

function shownEntry(fact: FactHere, project: string | undefined): ShownEntry {
  const text = `### ${labelOf(fact, project)}\n\n${harmlessBlock(fact.value).trimEnd()}\n`;
  return { text, tokens: Math.max(1, Math.floor(charactersIn(text) / 4)) };
}

/** `<category>/<name>`, without repeating the header or the key. */
function labelOf({ key, category }: FactHere, project: string | undefined): string {
  const prefix = project === undefined ? undefined : projectPrefix(project);
  const inside = prefix !== undefined && key.startsWith(prefix) ? key.slice(prefix.length) : key;
  return harmlessLine(inside.startsWith(`${category}/`) ? inside : `${category}/${inside}`);
}

function charactersIn(text: string): number {
  let count = 0;
  for (const _character of text) count += 1;
  return count;
}

/** Drops complete entries from the end until the rest fits. */
function withinBudget(entries: readonly ShownEntry[], budget: number): readonly ShownEntry[] {
  let used = 0;
  const firstTooMany = entries.findIndex(({ tokens }) => {
    used += tokens;
    return used > budget;
  });
  return firstTooMany === -1 ? entries : entries.slice(0, firstTooMany);
}

function headerOf(phase: PhaseName, project: string | undefined, budget: number, count: number): string {
  const slug = project === undefined ? "(unknown)" : harmlessLine(project);
  return `# Auto-context recall — phase: ${phase}, project: ${slug}\n(budget: ~${budget} tokens, entries: ${count})\n\n`;
}

function textOf(entries: readonly ShownEntry[]): string {
  return entries.map(({ text }) => `${text}\n`).join("");
}

function whyNothing(found: number, phase: PhaseName, budget: number): string {
  if (found > 0) return `None of the ${found} entries fits into ${budget} tokens.`;
  const categories = [ALWAYS, ...targetsOf(phase)].join(", ");
  return `Memory has nothing for the phase ${phase} here (categories: ${categories}).`;
}
