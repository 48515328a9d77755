/** What the process seam promises: three questions about one project, and what a consumer passes in to have them answered. */

/** Where a process stands; every field may be left out. */
export interface HereContext {
  /** The project's root folder; default: the consumer's own. */
  readonly cwd?: string;
  /** One of {@link PHASES}; anything else counts as `work`. */
  readonly phase?: string;
  /** A named plan, for {@link Seam.statePath}; wins over the marker. */
  readonly plan?: string;
}

/** The read-only client that a dev-loop process holds. No method writes, and none waits for a lock. */
export interface Seam {
  /**
   * What memory knows for this project and phase, as text for a model; "" when memory is absent or has nothing.
   *
   * @throws the error of a memory that is there but cannot be trusted: a wrong key, a damaged database
   */
  recallHere(context?: HereContext | null, options?: RecallHereOptions): Promise<string>;
  /** The candidate with where it would be saved; [] when memory is absent or there is no project. Throws as recallHere. */
  offerSaveHere(context: HereContext | null | undefined, candidate: unknown): Promise<readonly SaveOffer[]>;
  /**
   * Where this project's active plan or its progress lies. Nothing is made, and a memory that is absent changes nothing.
   *
   * @throws `active_plan_corrupt` when the marker does not name a plan that is there, `invalid_input` for an unsafe plan
   */
  statePath(context: HereContext | null | undefined, which: StateFile): Promise<string>;
}

export interface RecallHereOptions {
  /** Ranks the phase's entries by how well they answer this; they stay behind what is always loaded. */
  readonly query?: string;
  /** Budget in tokens; default by phase. */
  readonly limit?: number;
}

export const STATE_FILES = ["plan", "progress"] as const;
export type StateFile = (typeof STATE_FILES)[number];

/** A copy of the candidate, with what it lacked. */
export interface SaveOffer {
  readonly [field: string]: unknown;
  readonly project: unknown;
  readonly target: SaveTarget;
}

/** Where a candidate would be saved. */
export interface SaveTarget {
  readonly namespace: string;
  readonly key: string;
  readonly category: string;
  /** What to hand to helmdeck__memory_store as it is; absent when the candidate has no text. */
  readonly arguments?: { readonly key: string; readonly category: string; readonly value: string };
}

/** A fact as recall shows and ranks it. */
export interface FactHere {
  readonly key: string;
  readonly value: string;
  readonly category: string;
  readonly tags: readonly string[];
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface FactsHereQuery {
  readonly category: string;
  readonly prefix?: string;
  readonly limit: number;
  readonly cursor?: string;
}

interface FactsHerePage {
  readonly facts: readonly FactHere[];
  /** Keys of rows that are there but do not open. */
  readonly unreadable: readonly string[];
  readonly nextCursor?: string;
}

/** One caller's facts, newest first, and nobody else's. */
export interface FactsHere {
  listFacts(query: FactsHereQuery): Promise<FactsHerePage>;
}

/** The keys of the facts that answer a query, best first. What it does not name answers nothing. */
export type RankFacts = (query: string, facts: readonly FactHere[]) => Promise<readonly string[]>;

/** Told, for people, why an answer is empty or less than it could be. One line, no stored value. */
export type OnNote = (note: string) => void;
