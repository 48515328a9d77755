/**
 * The recall text for the start of a phase: entries that are always loaded, then the phase's entries, within the budget.
 * The table of phases says which categories each one recalls, and its budget.
 */
import { harmlessBlock, harmlessLine } from "../engine/reader.ts";
import { isOfNoProject, projectPrefix } from "./project.ts";
import type { FactHere, FactsHere, FactsHereQuery, RankFacts } from "./seam-contract.ts";

interface Phase {
  /** In this order, after the categories that are always loaded. */
  readonly targets: readonly string[];
  readonly budgetTokens: number;
}

/** Loaded in every phase; for every project if the key names none. */
const ALWAYS = "always";

const BY_PHASE = {
  setup: { targets: ["index"], budgetTokens: 4_000 },
  plan: { targets: ["index", "decisions", "open_questions"], budgetTokens: 6_000 },
  work: { targets: ["decisions", "known_issues"], budgetTokens: 6_000 },
  review: { targets: [], budgetTokens: 4_000 },
  release: { targets: ["decisions"], budgetTokens: 6_000 },
  bugfix: { targets: ["known_issues"], budgetTokens: 6_000 },
  documenter: { targets: ["index", "decisions", "wiki_style"], budgetTokens: 10_000 },
} as const satisfies Record<string, Phase>;

type PhaseName = keyof typeof BY_PHASE;

export const PHASES: readonly string[] = Object.keys(BY_PHASE);

/** Exact and lower case; anything else is `work`. */
function phaseOf(name: unknown): PhaseName {
  const isPhase = (text: string): text is PhaseName => Object.hasOwn(BY_PHASE, text);
  return typeof name === "string" && isPhase(name) ? name : "work";
}

/** The given limit, else HARNESS_RECALL_BUDGET_<PHASE>, else the phase's default. */
function budgetOf(
  phase: PhaseName,
  limit: number | undefined,
  env: Readonly<Record<string, string | undefined>>,
): number {
  const set = env[`HARNESS_RECALL_BUDGET_${phase.toUpperCase()}`]?.trim() ?? "";
  const configured = /^\d{1,9}$/.test(set) ? Number(set) : 0;
  return [limit, configured].find((tokens = 0) => tokens > 0) ?? BY_PHASE[phase].budgetTokens;
}

export interface RecallRequest {
  /** Undefined if the project is unknown. */
  readonly project: string | undefined;
  readonly phase?: string;
  readonly query?: string;
  readonly limit?: number;
}

interface RecallParts {
  readonly facts: FactsHere;
  readonly rank: RankFacts;
  /** Read for HARNESS_RECALL_BUDGET_<PHASE>. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

interface RecallText {
  readonly text: string;
  /** Why the text is empty or incomplete, one line each, for a person. */
  readonly notes: readonly string[];
}

/** The number of values decrypted at a time. */
const PAGE = 50;
/** Limit per category: more would not fit the budget, and ranking it would take seconds. */
const MOST_PER_CATEGORY = 1_000;

/** Recalls one project from one caller's memory. Read-only; passes memory errors on. */
export async function recallProject(parts: RecallParts, request: RecallRequest): Promise<RecallText> {
  const phase = phaseOf(request.phase);
  const budget = budgetOf(phase, request.limit, parts.env);
  const prefix = request.project === undefined ? undefined : projectPrefix(request.project);
  const { facts, notes } = await gather(parts, { phase, prefix, query: request.query });
  const texts = withinBudget(
    facts.map((fact) => `### ${labelOf(fact, prefix)}\n\n${harmlessBlock(fact.value).trimEnd()}\n`),
    budget,
  );
  if (texts.length > 0) {
    const slug = request.project === undefined ? "(unknown)" : harmlessLine(request.project);
    const header = `# Auto-context recall — phase: ${phase}, project: ${slug}\n(budget: ~${budget} tokens, entries: ${texts.length})\n\n`;
    return { text: header + texts.map((text) => `${text}\n`).join(""), notes };
  }
  const categories = [ALWAYS, ...BY_PHASE[phase].targets].join(", ");
  const why =
    facts.length > 0
      ? `None of the ${facts.length} entries fits into ${budget} tokens.`
      : `Memory has nothing for the phase ${phase} here (categories: ${categories}).`;
  return { text: "", notes: [...notes, why] };
}

interface Wanted {
  readonly phase: PhaseName;
  /** The prefix of the project's keys; undefined if the project is unknown. */
  readonly prefix: string | undefined;
  readonly query: string | undefined;
}

/** In display order: what is always loaded (first what is for every project), then the phase's entries, best first if there is a query. */
async function gather({ facts, rank }: RecallParts, { phase, prefix, query }: Wanted) {
  const reading = new Reading(facts);
  const isWanted = (key: string) => isOfNoProject(key) || (prefix !== undefined && key.startsWith(prefix));
  const always = await reading.all({ category: ALWAYS }, isWanted);
  const { general = [], own = [] } = Object.groupBy(always, ({ key }) =>
    isOfNoProject(key) ? "general" : "own",
  );
  const targets: FactHere[] = [];
  if (prefix !== undefined) {
    for (const category of BY_PHASE[phase].targets)
      targets.push(...(await reading.all({ category, prefix })));
  }
  const ordered = query?.trim() ? bestFirst(targets, await rank(query, targets)) : targets;
  return { facts: [...general, ...own, ...ordered], notes: reading.notes() };
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
    // Ties are sorted by key, so that the result is deterministic.
    return found.sort((left, right) => right.updatedAt - left.updatedAt || (left.key < right.key ? -1 : 1));
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

/** Entries that answer the query come first; the others keep their order. */
function bestFirst(facts: readonly FactHere[], bestKeys: readonly string[]): readonly FactHere[] {
  const places = new Map(bestKeys.map((key, place) => [key, place]));
  const placeOf = ({ key }: FactHere): number => places.get(key) ?? Number.POSITIVE_INFINITY;
  return facts.toSorted((left, right) => {
    const [a, b] = [placeOf(left), placeOf(right)];
    return a === b ? 0 : a - b;
  });
}

/** `<category>/<name>`, without repeating the header or the key. */
function labelOf({ key, category }: FactHere, prefix: string | undefined): string {
  const inside = prefix !== undefined && key.startsWith(prefix) ? key.slice(prefix.length) : key;
  return harmlessLine(inside.startsWith(`${category}/`) ? inside : `${category}/${inside}`);
}

/** Drops complete entries from the end until the rest fits. */
function withinBudget(texts: readonly string[], budget: number): readonly string[] {
  let used = 0;
  const firstTooMany = texts.findIndex((text) => {
    let characters = 0;
    for (const _character of text) characters += 1;
    used += Math.max(1, Math.floor(characters / 4));
    return used > budget;
  });
  return firstTooMany === -1 ? texts : texts.slice(0, firstTooMany);
}
