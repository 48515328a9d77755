/** Runs of tools, packs and pipelines by day, newest first. */

import type { RunKind, RunsQuery, RunView } from "../../app/memory.ts";
import { defined } from "../../engine/defined.ts";
import { chip, empty, heading, hiddenFields, notice, pager } from "../components/parts.ts";
import { type Html, html, line, shortLine } from "../html.ts";
import { type Page, type PageContext, param } from "../page.ts";
import { clockOf, counted, dayName, dayOf, duration, minuteOf, writerWords } from "../words.ts";

const KINDS: Readonly<Record<RunKind, string>> = { tool: "Tool", pack: "Pack", pipeline: "Pipeline" };
const OUTCOMES = { ok: "Succeeded", failed: "Failed" } as const;

export async function timelinePage(context: PageContext): Promise<Page> {
  const asked = queryOf(context);
  const { runs, unreadable, nextCursor } = await context.memory.listRuns(context.subject, asked);
  const params = { ...asked, until: asked.cursor === undefined ? asked.until : undefined };
  const isNarrow = asked.kind !== undefined || asked.outcome !== undefined || asked.until !== undefined;
  const list = runs.length === 0 ? nothing(context, isNarrow, nextCursor !== undefined) : byDay(runs);
  const body = html`${heading("Timeline", "What tools, packs and pipelines did, newest first. Records are kept for 30 days.")}
${filters(context, asked)}${begins(context, asked)}${unreadable > 0 && notice("warn", `${counted(unreadable, "record")} cannot be opened. See Health.`)}
${list}${pager(context, "/timeline", { ...params, cursor: asked.cursor }, nextCursor)}`;
  return { title: "Timeline", section: "timeline", body };
}

function queryOf(context: PageContext): RunsQuery {
  const until = Number(param(context, "until") ?? Number.NaN);
  return defined({
    kind: known(param(context, "kind"), KINDS),
    outcome: known(param(context, "outcome"), OUTCOMES),
    until: Number.isSafeInteger(until) ? until : undefined,
    cursor: param(context, "cursor"),
  });
}

/** An unknown name means no filter. */
function known<Name extends string>(text = "", names: Readonly<Record<Name, string>>): Name | undefined {
  return Object.hasOwn(names, text) ? (text as Name) : undefined; // one of its own names
}

function filters({ links }: PageContext, { kind, outcome }: RunsQuery): Html {
  return html`<form class="filters" method="get" action="${links.path("/timeline")}">${hiddenFields(links.hidden)}
<label>Kind<select name="kind"><option value="">All kinds</option>${options(KINDS, kind)}</select></label>
<label>Outcome<select name="outcome"><option value="">All outcomes</option>${options(OUTCOMES, outcome)}</select></label>
<button>Filter</button></form>`;
}

function options(names: Readonly<Record<string, string>>, chosen: string | undefined): readonly Html[] {
  return Object.entries(names).map(([value, name]) =>
    value === chosen
      ? html`<option value="${value}" selected>${name}</option>`
      : html`<option value="${value}">${name}</option>`,
  );
}

function begins({ links }: PageContext, { until, cursor }: RunsQuery): Html | undefined {
  if (until === undefined || cursor !== undefined) return undefined;
  return notice(
    "soft",
    html`${minuteOf(until)} UTC and earlier. <a href="${links.to("/timeline")}">Show the newest</a>`,
  );
}

function nothing({ links }: PageContext, isNarrow: boolean, isMore: boolean): Html {
  if (isMore) return empty("None of the records on this page match.", "The next page has older records.");
  if (isNarrow) {
    return empty("No record matches.", html`<a href="${links.to("/timeline")}">Show all of them</a>`);
  }
  return empty(
    "There are no records yet.",
    'Runs of packs and pipelines appear here, and calls of other tools if OpenClaw records them (auditTools: "all"). Storing, finding and forgetting facts leaves no record.',
  );
}

function byDay(runs: readonly RunView[]): readonly Html[] {
  const sorted = [...runs].sort((one, other) => other.at - one.at);
  return [...Map.groupBy(sorted, ({ at }) => dayOf(at)).values()].map(
    (ofDay) => html`<h2>${dayName(ofDay[0]?.at ?? 0)}</h2><ul class="card rows">${ofDay.map(runRow)}</ul>`,
  );
}

function runRow({ at, name, kind, outcome, isOk, durationMs, inputs, findings, writer }: RunView): Html {
  const about = [
    KINDS[kind].toLowerCase(),
    ...(durationMs === undefined ? [] : [duration(durationMs)]),
    ...(findings === 0 ? [] : [counted(findings, "finding")]),
    ...(writer === undefined ? [] : [`by ${shortLine(writerWords(writer))}`]),
  ];
  const kept = Object.entries(inputs);
  return html`<li class="run"><time datetime="${new Date(at).toISOString()}">${clockOf(at)}</time>
<div><h3>${shortLine(name)}</h3><div class="meta">${about.map((text) => html`<span>${text}</span>`)}</div></div>
${outcomeChip(outcome, isOk)}${
  kept.length > 0 &&
  html`<div class="inputs">${kept.map(([field, text]) => html`<div>${line(field)}: <code>${shortLine(text, 240)}</code></div>`)}</div>`
}</li>`;
}

/** Shown by colour and by word. */
function outcomeChip(outcome: string, isOk: boolean): Html {
  const sign = isOk ? "✓" : "✗";
  return chip(`${sign} ${shortLine(outcome, 40)}`, isOk ? "ok" : outcome === "cancelled" ? "warn" : "bad");
}
