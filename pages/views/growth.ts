/** How memory grew: the current entries by the time they were stored, as a table with a bar for each period. */
import type { DayCount, Growth } from "../../app/memory.ts";
import { answerOrReason, empty, heading, notice } from "../components/parts.ts";
import { type Html, html, line } from "../html.ts";
import { type Page, type PageContext, param } from "../page.ts";
import { number, size } from "../words.ts";

export async function growthPage(context: PageContext): Promise<Page> {
  const { memory, subject } = context;
  const growth = await answerOrReason(memory.growth(subject));
  const about =
    "The entries in memory now, by the day on which they were stored (in UTC). Forgotten and expired entries are not counted.";
  const nothing = "Tell your agent to remember something. This page then shows how memory grows.";
  const body =
    typeof growth === "string"
      ? notice("soft", line(growth))
      : growth.days.length === 0
        ? empty("Nothing has been stored yet.", nothing)
        : grown(context, growth);
  return { title: "Growth", section: "growth", body: html`${heading("Growth", about)}${body}` };
}

const PERIODS = { day: "Day", week: "Week from", month: "Month" } as const;
type Period = keyof typeof PERIODS;
/** Rows of the table. */
const MOST_SPANS = 60;

function grown(context: PageContext, { days, bytes }: Growth): Html {
  const asked = param(context, "by") ?? "";
  const chosen = Object.hasOwn(PERIODS, asked) ? (asked as Period) : usualPeriod(days[0], context.now); // one of its own names
  const spans = growthBy(days, chosen);
  const { allFacts = 0, allRuns = 0 } = spans.at(-1) ?? {};
  const tile = (value: string, name: string) =>
    html`<div class="card pad tile"><strong>${value}</strong><span class="muted">${name}</span></div>`;
  const button = (period: string) =>
    html`<a class="button small${period === chosen ? " primary" : ""}" href="${context.links.to("/growth", { by: period })}"${period === chosen && html` aria-current="true"`}>By ${period}</a>`;
  const most = Math.max(...spans.map(({ facts, runs }) => facts + runs));
  return html`<div class="tiles">${tile(number(allFacts), allFacts === 1 ? "fact" : "facts")}${tile(number(allRuns), allRuns === 1 ? "record of a run" : "records of runs")}${tile(size(bytes), "stored, including former values and caches")}</div>
<nav class="actions" aria-label="Period">${Object.keys(PERIODS).map(button)}</nav>
<div class="card pad table"><table><caption>Newest first. A ${chosen} without entries is left out.</caption>
<thead><tr><th scope="col">${PERIODS[chosen]}</th><th scope="col" class="n">Facts</th><th scope="col" class="n">Runs</th><th scope="col" class="n">Facts so far</th><th scope="col" class="n">Runs so far</th></tr></thead>
<tbody>${spans
    .slice(-MOST_SPANS)
    .toReversed()
    .map(
      ({ name, facts, runs, allFacts, allRuns }) =>
        html`<tr><th scope="row">${name}${bar(facts / most, runs / most)}</th><td class="n">${number(facts)}</td><td class="n">${number(runs)}</td><td class="n">${number(allFacts)}</td><td class="n">${number(allRuns)}</td></tr>`,
    )}</tbody></table></div>`;
}

/** The numbers beside it say the same. */
function bar(facts: number, runs: number): Html {
  return html`<svg class="chart" viewBox="0 0 100 3" preserveAspectRatio="none" aria-hidden="true"><rect class="a" width="${100 * facts}" height="3"/><rect class="b" x="${100 * facts}" width="${100 * runs}" height="3"/></svg>`;
}

/** Of what was stored in a period, and with everything before it. */
function growthBy(days: readonly DayCount[], period: Period) {
  let [allFacts, allRuns] = [0, 0];
  return [...Map.groupBy(days, ({ day }) => nameOf(period, day))].map(([name, ofPeriod]) => {
    const facts = ofPeriod.reduce((sum, day) => sum + day.facts, 0);
    const runs = ofPeriod.reduce((sum, day) => sum + day.runs, 0);
    [allFacts, allRuns] = [allFacts + facts, allRuns + runs];
    return { name, facts, runs, allFacts, allRuns };
  });
}

const DAY_MS = 86_400_000;

/** The finest period that gives a table of a sensible length. */
function usualPeriod(first: DayCount | undefined, now: number): Period {
  const daysAgo = first === undefined ? 0 : (now - Date.parse(first.day)) / DAY_MS;
  if (daysAgo < 45) return "day";
  return daysAgo < 366 ? "week" : "month";
}

/** Weeks begin on Monday. */
function nameOf(period: Period, day: string): string {
  if (period === "month") return day.slice(0, "2026-01".length);
  const date = new Date(day);
  const back = period === "week" ? (date.getUTCDay() + 6) % 7 : 0;
  return new Date(date.getTime() - back * DAY_MS).toISOString().slice(0, "2026-01-01".length);
}
