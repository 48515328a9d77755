/** How memory grew: the current entries by the time they were stored, as a chart and as a table. */
import type { Growth } from "../../app/memory.ts";
import { answerOrReason, empty, heading, notice } from "../components/parts.ts";
import { type Html, html, line } from "../html.ts";
import { type Page, type PageContext, param } from "../page.ts";
import { counted, number, size } from "../words.ts";

export async function growthPage(context: PageContext): Promise<Page> {
  const { memory, subject, now } = context;
  const growth = await answerOrReason(memory.growth(subject));
  if (typeof growth === "string")
    return {
      title: "Growth",
      section: "growth",
      body: html`${heading("Growth")}${notice("soft", line(growth))}`,
    };
  const chosen = PERIODS.find((period) => period === param(context, "by")) ?? usualPeriod(growth, now);
  const body = html`${heading("Growth", "The entries in memory now, by the time they were stored. Forgotten and expired entries are not counted.")}
${growth.days.length === 0 ? nothing() : grown(context, growth, chosen)}`;
  return { title: "Growth", section: "growth", body };
}

function nothing(): Html {
  return empty(
    "Nothing has been stored yet.",
    "Tell your agent to remember something. This page then shows how memory grows.",
  );
}

function grown(context: PageContext, growth: Growth, period: Period): Html {
  const spans = growthBy(growth, period, context.now);
  return html`${tiles(growth)}${periods(context, period)}
<section class="card pad" aria-label="Chart">${chart(spans)}</section>
<h2>The same in numbers</h2>${table(spans, period)}`;
}

function tiles({ days, bytes }: Growth): Html {
  const facts = days.reduce((sum, day) => sum + day.facts, 0);
  const runs = days.reduce((sum, day) => sum + day.runs, 0);
  const tile = (value: string, name: string) =>
    html`<div class="card pad tile"><strong>${value}</strong><span class="muted">${name}</span></div>`;
  return html`<div class="tiles">${tile(number(facts), facts === 1 ? "fact" : "facts")}${tile(number(runs), runs === 1 ? "record of a run" : "records of runs")}${tile(size(bytes), "stored, including former values and caches")}</div>`;
}

function periods({ links }: PageContext, chosen: Period): Html {
  return html`<nav class="actions" aria-label="Period">${PERIODS.map((period) =>
    period === chosen
      ? html`<a class="button small primary" href="${links.to("/growth", { by: period })}" aria-current="true">By ${period}</a>`
      : html`<a class="button small" href="${links.to("/growth", { by: period })}">By ${period}</a>`,
  )}</nav>`;
}

function table(spans: readonly Span[], period: Period): Html {
  const rows = spans.filter(({ facts, runs }) => facts + runs > 0).toReversed();
  return html`<div class="card pad table"><table><caption>Newest first. A ${period} without entries is left out.</caption>
<thead><tr><th scope="col">${heads[period]}</th><th scope="col" class="n">Facts</th><th scope="col" class="n">Runs</th><th scope="col" class="n">Facts so far</th><th scope="col" class="n">Runs so far</th></tr></thead>
<tbody>${rows.map(
    ({ name, facts, runs, allFacts, allRuns }) =>
      html`<tr><th scope="row">${name}</th><td class="n">${number(facts)}</td><td class="n">${number(runs)}</td><td class="n">${number(allFacts)}</td><td class="n">${number(allRuns)}</td></tr>`,
  )}</tbody></table></div>`;
}

const heads = { day: "Day", week: "Week from", month: "Month" } as const;

const WIDTH = 720;
const HEIGHT = 240;
const [LEFT, RIGHT, TOP, BOTTOM] = [44, 44, 12, 26];
const FLOOR = HEIGHT - BOTTOM;
const TALL = FLOOR - TOP;

/** An SVG chart: bars for the entries added in each period, and a line for the total. */
function chart(spans: readonly Span[]): Html {
  const most = niceTop(Math.max(...spans.map(({ facts, runs }) => facts + runs)));
  const all = niceTop(spans.at(-1)?.allFacts ?? 0);
  const [first, last] = [spans[0], spans.at(-1)];
  return html`<p class="key"><span>${swatch("a")}Facts added</span><span>${swatch("b")}Records of runs</span><span>${lineSwatch()}All facts so far (scale on the right)</span></p>
<svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${summary(spans)}">
${[0, 0.5, 1].map((share) => gridLine(share, most, all))}
${spans.map((span, at) => bar(span, at, spans.length, most))}
<polyline class="line" points="${spans.map((span, at) => `${middle(at, spans.length)},${y(span.allFacts, all)}`).join(" ")}"/>
<text x="${LEFT}" y="${HEIGHT - 8}">${first?.name ?? ""}</text><text x="${WIDTH - RIGHT}" y="${HEIGHT - 8}" text-anchor="end">${last?.name ?? ""}</text>
</svg>`;
}

function summary(spans: readonly Span[]): string {
  const [first, last] = [spans[0], spans.at(-1)];
  return `From ${first?.name} to ${last?.name} memory grew to ${counted(last?.allFacts ?? 0, "fact")} and ${counted(last?.allRuns ?? 0, "record of a run", "records of runs")}. The table below has the numbers.`;
}

function gridLine(share: number, most: number, all: number): Html {
  const at = FLOOR - share * TALL;
  return html`<line class="axis" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at}" y2="${at}"/>
<text x="${LEFT - 8}" y="${at + 4}" text-anchor="end">${number(share * most)}</text><text x="${WIDTH - RIGHT + 8}" y="${at + 4}">${number(share * all)}</text>`;
}

function bar({ name, facts, runs }: Span, at: number, count: number, most: number): Html | undefined {
  if (facts + runs === 0) return undefined;
  const wide = (WIDTH - LEFT - RIGHT) / count;
  const x = round(LEFT + at * wide + wide * 0.15);
  const width = round(wide * 0.7);
  const [top, between] = [y(facts + runs, most), y(facts, most)];
  return html`<g><title>${name}: ${counted(facts, "fact")}, ${counted(runs, "record")}</title>${runs > 0 && html`<rect class="b" x="${x}" y="${top}" width="${width}" height="${round(between - top)}"/>`}${facts > 0 && html`<rect class="a" x="${x}" y="${between}" width="${width}" height="${round(FLOOR - between)}"/>`}</g>`;
}

function middle(at: number, count: number): number {
  return round(LEFT + ((at + 0.5) * (WIDTH - LEFT - RIGHT)) / count);
}

function y(value: number, most: number): number {
  return round(FLOOR - (value / most) * TALL);
}

/** A round number that is easy to halve. */
function niceTop(value: number): number {
  if (value <= 2) return 2;
  const power = 10 ** Math.floor(Math.log10(value));
  const top = [1, 2, 4, 6, 8, 10].find((step) => step * power >= value) ?? 10;
  return top * power;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function swatch(name: "a" | "b"): Html {
  return html`<svg class="chart" viewBox="0 0 10 10" aria-hidden="true"><rect class="${name}" width="10" height="10" rx="2"/></svg>`;
}

function lineSwatch(): Html {
  return html`<svg class="chart" viewBox="0 0 10 10" aria-hidden="true"><line class="line" x1="0" x2="10" y1="5" y2="5"/></svg>`;
}

const PERIODS = ["day", "week", "month"] as const;
type Period = (typeof PERIODS)[number];

interface Span {
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

/**
 * Groups daily counts by day, week or month, without gaps, for the most recent periods.
 *
 * The finest period that fits the whole growth.
 */
function usualPeriod({ days: [first] }: Growth, now: number): Period {
  const daysAgo = first === undefined ? 0 : (now - Date.parse(first.day)) / DAY_MS;
  if (daysAgo < 45) return "day";
  return daysAgo < 366 ? "week" : "month";
}

/** Up to now. Earlier entries count in the totals of the first period. */
function growthBy({ days }: Growth, period: Period, now: number): readonly Span[] {
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
