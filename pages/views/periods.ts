/** Groups daily counts by day, week or month, without gaps, for the most recent periods. */
import type { Growth } from "../../app/memory.ts";

export const PERIODS = ["day", "week", "month"] as const;
export type Period = (typeof PERIODS)[number];

export interface Span {
  readonly name: string;
  readonly facts: number;
  readonly runs: number;
  /** Totals up to and including this period. */
  readonly allFacts: number;
  readonly allRuns: number;
}

const DAY_MS = 86_400_000;
/** The number of periods shown. */
const MOST_SPANS = 60;

/** The finest period that fits the whole growth. */
export function usualPeriod({ days: [first] }: Growth, now: number): Period {
  const daysAgo = first === undefined ? 0 : (now - Date.parse(first.day)) / DAY_MS;
  if (daysAgo < 45) return "day";
  return daysAgo < 366 ? "week" : "month";
}

/** Up to now. Earlier entries count in the totals of the first period. */
export function growthBy({ days }: Growth, period: Period, now: number): readonly Span[] {
  const counts = new Map<string, { facts: number; runs: number }>();
  let [allFacts, allRuns] = [0, 0];
  const names = lastNames(period, now);
  const first = names[0] ?? "";
  for (const { day, facts, runs } of days) {
    const name = nameOf(period, Date.parse(day));
    if (name < first) {
      allFacts += facts;
      allRuns += runs;
      continue;
    }
    const sum = counts.get(name) ?? { facts: 0, runs: 0 };
    counts.set(name, { facts: sum.facts + facts, runs: sum.runs + runs });
  }
  const before = allFacts + allRuns;
  const spans = names.map((name) => {
    const { facts, runs } = counts.get(name) ?? { facts: 0, runs: 0 };
    allFacts += facts;
    allRuns += runs;
    return { name, facts, runs, allFacts, allRuns };
  });
  const begins = before > 0 ? 0 : spans.findIndex(({ facts, runs }) => facts + runs > 0);
  return spans.slice(Math.max(0, Math.min(begins, spans.length - LEAST_SPANS)));
}

/** A chart needs at least this many bars. */
const LEAST_SPANS = 7;

function lastNames(period: Period, now: number): readonly string[] {
  const names: string[] = [];
  for (let at = now; names.length < MOST_SPANS; at = startOf(period, at) - 1) names.push(nameOf(period, at));
  return names.reverse();
}

function nameOf(period: Period, at: number): string {
  const day = new Date(startOf(period, at)).toISOString().slice(0, 10);
  return period === "month" ? day.slice(0, 7) : day;
}

/** Weeks begin on Monday. All times are UTC. */
function startOf(period: Period, at: number): number {
  const date = new Date(at);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  if (period === "month") return Date.UTC(year, month, 1);
  return Date.UTC(year, month, period === "week" ? day - ((date.getUTCDay() + 6) % 7) : day);
}
