/** How memory grew: the current entries by the time they were stored, as a chart and as a table. */
import type { Growth } from "../../app/memory.ts";
import { answerOrReason } from "../components/answer-or-reason.ts";
import { empty, heading, notice } from "../components/parts.ts";
import { type Html, html, line } from "../html.ts";
import { type Page, type PageContext, param } from "../page.ts";
import { number, size } from "../words.ts";
import { chart } from "./chart.ts";
import { growthBy, PERIODS, type Period, type Span, usualPeriod } from "./periods.ts";

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
