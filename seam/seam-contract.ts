/** The contract of the process seam: three queries about one project, and their inputs. */

/** The context of a process; every field is optional. */
export interface HereContext {
  /** The project's root folder; default: the consumer's own. */
  readonly cwd?: string;
  /** One of {@link PHASES}; anything else counts as `work`. */
  readonly phase?: string;
  /** A named plan, for {@link Seam.statePath}; wins over the marker. */
  readonly plan?: string;
}

/** The read-only client of a dev-loop process. No method writes or waits for a lock. */
export interface Seam {
  /**
   * Memory for this project and phase, as text for a model; "" if memory is absent or has nothing.
   *
   * @throws if memory exists but cannot be trusted: a wrong key, a damaged database
   */
  recallHere(context?: HereContext | null, options?: RecallHereOptions): Promise<string>;
  /** The candidate with its save target; [] if memory is absent or there is no project. Throws like recallHere. */
  offerSaveHere(context: HereContext | null | undefined, candidate: unknown): Promise<readonly SaveOffer[]>;
  /**
   * The path of this project's active plan or progress file. Creates nothing and works without memory.
   *
   * @throws `active_plan_corrupt` if the marker does not name an existing plan, `invalid_input` for an unsafe plan name
   */
  statePath(context: HereContext | null | undefined, which: StateFile): Promise<string>;
}

interface RecallHereOptions {
  /** Ranks the phase's entries by this query; entries that are always loaded stay first. */
  readonly query?: string;
  /** Budget in tokens; default by phase. */
  readonly limit?: number;
}

export const STATE_FILES = ["plan", "progress"] as const;
export type StateFile = (typeof STATE_FILES)[number];

/** A copy of the candidate with missing fields filled in. */
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
  /** The arguments for helmdeck__memory_store; absent if the candidate has no text. */
  readonly arguments?: { readonly key: string; readonly category: string; readonly value: string };
}

/** A fact, for display and ranking. */
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
  /** Keys of rows that cannot be opened. */
  readonly unreadable: readonly string[];
  readonly nextCursor?: string;
}

/** One caller's facts, newest first. */
export interface FactsHere {
  listFacts(query: FactsHereQuery): Promise<FactsHerePage>;
}

/** Returns the keys of the facts that answer a query, best first, without other facts. */
export type RankFacts = (query: string, facts: readonly FactHere[]) => Promise<readonly string[]>;

/** Called with the reason for an empty or incomplete answer, for people: one line, without stored values. */
export type OnNote = (note: string) => void;
