/** What changed lately, by day, newest first: facts that were stored or changed, or runs of tools, packs and pipelines. */

import type { FactView, FormerView, RunKind, RunsQuery, RunView } from "../../app/memory.ts";
import { firstWords } from "../../app/presenters/words.ts";
import { defined } from "../../engine/defined.ts";
import { isKnownTime } from "../../engine/rfc3339.ts";
import { factLink, factTitle, unreadableRows } from "../components/fact-row.ts";
import {
  answerOrReason,
  chip,
  empty,
  heading,
  hiddenFields,
  nothingStored,
  notice,
  pager,
} from "../components/parts.ts";
import { type Html, html, line, shortLine } from "../html.ts";
import { type Page, type PageContext, param } from "../page.ts";
import { clock, counted, dayName, dayOf, duration, minute, writerWords } from "../words.ts";

const KINDS: Readonly<Record<RunKind, string>> = { tool: "Tool", pack: "Pack", pipeline: "Pipeline" };
/** In the address: of every kind. */
const ALL_RUNS = "run";
const OUTCOMES = { ok: "Succeeded", failed: "Failed" } as const;

export async function timelinePage(context: PageContext): Promise<Page> {
  const isOfRuns = ["kind", "outcome", "until"].some((name) => param(context, name) !== undefined);
  const shown = await (isOfRuns ? runs(context) : changes(context));
  const about =
    "What changed, newest first: facts that were stored or changed, or what tools, packs and pipelines did. What was forgotten left no trace, and is not here.";
  return { title: "Timeline", section: "timeline", body: html`${heading("Timeline", about)}${shown}` };
}

const PAGE_CHANGES = 25;

async function changes(context: PageContext): Promise<Html> {
  const { memory, subject } = context;
  const asked = defined({ cursor: param(context, "cursor") });
  const query = { newestFirst: true, limit: PAGE_CHANGES, ...asked };
  const { facts, unreadable, nextCursor } = await memory.listFacts(subject, query);
  const rows = facts.map(async (fact) => {
    const history = await answerOrReason(memory.factHistory(subject, { key: fact.key }));
    const before = typeof history === "object" ? history.undo : [];
    return { at: fact.updatedAt, row: changeRow(context, fact, before) };
  });
  const isEmpty = facts.length + unreadable.length === 0;
  return html`${filters(context, {})}${unreadableRows(context, unreadable)}
${isEmpty ? nothingStored(context) : byDay(await Promise.all(rows))}${pager(context, "/timeline", asked, nextCursor)}`;
}

/** `before`: what its last store that changed something replaced. */
function changeRow(context: PageContext, fact: FactView, before: readonly FormerView[]): Html {
  const { key, createdAt, updatedAt, writer } = fact;
  const again = !isKnownTime(updatedAt)
    ? undefined
    : createdAt === updatedAt
      ? chip("new", "ok")
      : chip("stored again", "soft");
  return html`<li class="run">${clock(updatedAt)}<div>${factTitle(context, fact)}${before.map(
    (former) =>
      html`<p class="muted">Before${former.key !== key && html`, under ${factLink(context, former.key)}`}: ${firstWords(former.value, 160)}</p>`,
  )}${writer && html`<div class="meta">by ${shortLine(writerWords(writer))}</div>`}</div>${before.length > 0 ? chip("changed", "warn") : again}</li>`;
}

async function runs(context: PageContext): Promise<Html> {
  const asked = queryOf(context);
  const { runs, unreadable, nextCursor } = await context.memory.listRuns(context.subject, asked);
  const kind = asked.kind ?? ALL_RUNS;
  const params = { ...asked, kind, until: asked.cursor === undefined ? asked.until : undefined };
  const isNarrow = asked.kind !== undefined || asked.outcome !== undefined || asked.until !== undefined;
  const list =
    runs.length === 0
      ? nothing(context, isNarrow, nextCursor !== undefined)
      : byDay(runs.map((run) => ({ at: run.at, row: runRow(run) })));
  return html`<p class="muted">Records of runs are kept for 30 days.</p>${filters(context, { ...asked, kind })}${begins(context, asked)}${unreadable > 0 && notice("warn", `${counted(unreadable, "record")} cannot be opened. See Health.`)}
${list}${pager(context, "/timeline", { ...params, cursor: asked.cursor }, nextCursor)}`;
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

function filters(
  { links }: PageContext,
  { kind, outcome }: Readonly<Partial<Record<"kind" | "outcome", string>>>,
): Html {
  return html`<form class="filters" method="get" action="${links.path("/timeline")}">${hiddenFields(links.hidden)}
<label>Show<select name="kind"><option value="">Facts</option>${options({ [ALL_RUNS]: "All runs", ...KINDS }, kind)}</select></label>
${kind !== undefined && html`<label>Outcome<select name="outcome"><option value="">All outcomes</option>${options(OUTCOMES, outcome)}</select></label>`}
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
    html`${minute(until)} and earlier. <a href="${links.to("/timeline", { kind: ALL_RUNS })}">Show the newest</a>`,
  );
}

function nothing({ links }: PageContext, isNarrow: boolean, isMore: boolean): Html {
  if (isMore) return empty("None of the records on this page match.", "The next page has older records.");
  if (isNarrow) {
    return empty(
      "No record matches.",
      html`<a href="${links.to("/timeline", { kind: ALL_RUNS })}">Show all of them</a>`,
    );
  }
  return empty(
    "There are no records yet.",
    'Runs of packs and pipelines appear here, and calls of other tools if OpenClaw records them (auditTools: "all"). Storing, finding and forgetting facts leaves no record.',
  );
}

interface Dated {
  readonly at: number;
  readonly row: Html;
}

/** By days in UTC; the pages' script makes them the reader's. */
function byDay(rows: readonly Dated[]): Html {
  const sorted = rows.toSorted((one, other) => other.at - one.at);
  const days = [...Map.groupBy(sorted, ({ at }) => dayOf(at)).values()].map(
    (ofDay) =>
      html`<h2>${dayName(ofDay[0]?.at ?? 0)}</h2><ul class="card rows">${ofDay.map(({ row }) => row)}</ul>`,
  );
  return html`<div class="days">${days}</div>`;
}

function runRow({ at, name, kind, outcome, isOk, durationMs, inputs, findings, writer }: RunView): Html {
  const about = [
    KINDS[kind].toLowerCase(),
    ...(durationMs === undefined ? [] : [duration(durationMs)]),
    ...(findings === 0 ? [] : [counted(findings, "finding")]),
    ...(writer === undefined ? [] : [`by ${shortLine(writerWords(writer))}`]),
  ];
  const kept = Object.entries(inputs);
  return html`<li class="run">${clock(at)}
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
