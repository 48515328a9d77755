/** The phases of a dev loop: the categories that each one recalls, and its budget. */

interface Phase {
  /** In this order, after the categories that are always loaded. */
  readonly targets: readonly string[];
  readonly budgetTokens: number;
}

/** Loaded in every phase; for every project if the key names none. */
export const ALWAYS = "always";

const BY_PHASE = {
  setup: { targets: ["index"], budgetTokens: 4_000 },
  plan: { targets: ["index", "decisions", "open_questions"], budgetTokens: 6_000 },
  work: { targets: ["decisions", "known_issues"], budgetTokens: 6_000 },
  review: { targets: [], budgetTokens: 4_000 },
  release: { targets: ["decisions"], budgetTokens: 6_000 },
  bugfix: { targets: ["known_issues"], budgetTokens: 6_000 },
  documenter: { targets: ["index", "decisions", "wiki_style"], budgetTokens: 10_000 },
} as const satisfies Record<string, Phase>;

export type PhaseName = keyof typeof BY_PHASE;

const DEFAULT_PHASE: PhaseName = "work";

export const PHASES: readonly string[] = Object.keys(BY_PHASE);

/** Exact and lower case; anything else is `work`. */
export function phaseOf(name: unknown): PhaseName {
  return typeof name === "string" && isPhase(name) ? name : DEFAULT_PHASE;
}

export function targetsOf(phase: PhaseName): readonly string[] {
  return BY_PHASE[phase].targets;
}

/** The given limit, else HARNESS_RECALL_BUDGET_<PHASE>, else the phase's default. */
export function budgetOf(
  phase: PhaseName,
  limit: number | undefined,
  env: Readonly<Record<string, string | undefined>>,
): number {
  const set = env[`HARNESS_RECALL_BUDGET_${phase.toUpperCase()}`]?.trim() ?? "";
  const configured = /^\d{1,9}$/.test(set) ? Number(set) : 0;
  return positive(limit) ?? positive(configured) ?? BY_PHASE[phase].budgetTokens;
}

function positive(tokens: number | undefined): number | undefined {
  return tokens !== undefined && tokens > 0 ? tokens : undefined;
}

function isPhase(name: string): name is PhaseName {
  return Object.hasOwn(BY_PHASE, name);
}
