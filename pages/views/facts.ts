/** The facts of a memory, pinned ones first, then newest first, or the results of a search. */

import type { FactsQuery } from "../../app/memory.ts";
import { isAuditCategory } from "../../engine/audit/audit-keys.ts";
import { defined } from "../../engine/defined.ts";
import { importsOf } from "../../engine/facts/import-tag.ts";
import type { ExpiringFacts } from "../../engine/projections/my-memory.ts";
import { copyable, doneNotice, forgetImportCommand } from "../components/changes.ts";
import { factRow, unreadableRows } from "../components/fact-row.ts";
import { empty, heading, hiddenFields, nothingStored, pager } from "../components/parts.ts";
import { type Html, html, line, shortLine } from "../html.ts";
import { type Page, type PageContext, param } from "../page.ts";
import { counted } from "../words.ts";
import { searchResults } from "./search.ts";

const PAGE_FACTS = 50;

interface Overview {
  readonly facts: number;
  readonly runs: number;
  readonly ending: ExpiringFacts | undefined;
  readonly categories: readonly { readonly name: string; readonly count: number }[];
  /** A note from the memory's source. */
  readonly note?: string | undefined;
}

export async function factsPage(context: PageContext): Promise<Page> {
  const query = param(context, "q");
  const overview = await overviewOf(context);
  const found = query === undefined ? await list(context, overview) : await searchResults(context, query);
  const title = query === undefined ? "Facts" : `Search: ${shortLine(query, 80)}`;
  const body = html`${doneNotice(context)}${heading("Facts", summary(context, overview), remember(context))}${searchForm(context, query)}${found}${overview.facts + overview.runs > 0 && forgetGroup(context)}`;
  return { title, section: "facts", body };
}

async function overviewOf({ memory, subject }: PageContext): Promise<Overview> {
  const { categories, expiring, note } = await memory.myMemory(subject);
  const ofFacts = categories.filter(({ name }) => !isAuditCategory(name));
  const ofRuns = categories.filter(({ name }) => isAuditCategory(name));
  const sum = (counts: typeof categories) => counts.reduce((total, { count }) => total + count, 0);
  return { facts: sum(ofFacts), runs: sum(ofRuns), ending: expiring, categories: ofFacts, note };
}

function summary({ links }: PageContext, { facts, runs, ending, categories, note }: Overview): Html {
  return html`${counted(facts, "fact")}${runs > 0 && html` · <a href="${links.to("/timeline")}">${counted(runs, "record")} of what tools did</a>`}${
    ending && html` · ${endingLink(links, ending)}`
  }${categories.length > 0 && note !== undefined && html`<br>${line(note)}`}`;
}

/** With the first keys. */
function endingLink(links: PageContext["links"], { count, soonest }: ExpiringFacts): Html {
  const named = soonest
    .slice(0, MOST_ENDING)
    .map(({ key, pinned }) => `${shortLine(key, 40)}${pinned ? " (pinned)" : ""}`);
  const more = count > named.length ? ", …" : "";
  return html`<a href="${links.to("/ending")}">${count === 1 ? "1 expires" : `${count} expire`} within 14 days</a>: ${named.join(", ")}${more}`;
}

const MOST_ENDING = 3;

function remember({ viewer, links }: PageContext): Html | undefined {
  if (viewer.changes.kind !== "forms") return undefined;
  return html`<a class="button primary" href="${links.to("/remember")}">Remember something</a>`;
}

/** At the end of the page, apart from the button that stores. */
function forgetGroup({ viewer, links }: PageContext): Html | undefined {
  if (viewer.changes.kind !== "forms") return undefined;
  return html`<p class="actions"><a class="button small" href="${links.to("/forget")}">Forget several…</a></p>`;
}

function searchForm({ links }: PageContext, query: string | undefined): Html {
  return html`<form class="search" method="get" action="${links.path("/facts")}" role="search">${hiddenFields(links.hidden)}
<label class="visually-hidden" for="q">Search as the agent searches</label>
<input type="search" id="q" name="q" value="${query ?? ""}" placeholder="Ask a question, as you would ask your agent" autocomplete="off" maxlength="4000">
<button class="primary">Search</button></form>`;
}

async function list(context: PageContext, overview: Overview): Promise<Html> {
  const { memory, subject } = context;
  const [category, prefix, tag, cursor] = ["category", "prefix", "tag", "cursor"].map((name) =>
    param(context, name),
  );
  const asked = defined({ category, prefix, tag, cursor });
  const { facts, unreadable, nextCursor } = await memory.listFacts(subject, { ...asked, limit: PAGE_FACTS });
  if (facts.length + unreadable.length === 0) return nothing(context, overview, asked);
  return html`${filters(context, overview, asked)}${tag !== undefined && imported(context, tag)}${unreadableRows(context, unreadable)}
<ul class="card rows">${facts.map((fact) => factRow(context, fact))}</ul>${pager(context, "/facts", asked, nextCursor)}`;
}

function nothing(context: PageContext, overview: Overview, asked: FactsQuery): Html {
  if (Object.keys(asked).length === 0) return nothingStored(context);
  const { links } = context;
  return html`${filters(context, overview, asked)}${empty(
    "No fact matches.",
    `None of ${counted(overview.facts, "fact")} matches the filters.`,
    html`<a href="${links.to("/facts")}">Show all facts</a>`,
  )}`;
}

function filters(
  { links }: PageContext,
  { categories }: Overview,
  { category, prefix, tag }: FactsQuery,
): Html {
  const isFiltered = (category ?? prefix ?? tag) !== undefined;
  const known = categories.some(({ name }) => name === category);
  const odd = category !== undefined && !known ? [{ name: category, count: 0 }] : [];
  return html`<form class="filters" method="get" action="${links.path("/facts")}">${hiddenFields(links.hidden)}
<label>Category<select name="category"><option value="">All categories</option>${[...categories, ...odd].map(
    ({ name, count }) =>
      name === category
        ? html`<option value="${name}" selected>${line(name)} (${count})</option>`
        : html`<option value="${name}">${line(name)} (${count})</option>`,
  )}</select></label>
<label>Key begins with<input type="text" name="prefix" value="${prefix ?? ""}" autocomplete="off"></label>
<label>Tag<input type="text" name="tag" value="${tag ?? ""}" autocomplete="off"></label>
<button>Filter</button>${isFiltered && html`<a class="button quiet" href="${links.to("/facts")}">Show all</a>`}</form>`;
}

/** What came with an import. */
function imported({ links, viewer: { changes } }: PageContext, tag: string): Html | undefined {
  const [id] = importsOf([tag]);
  if (id === undefined) return undefined;
  const change =
    changes.kind === "forms"
      ? html`<p><a class="button small" href="${links.to("/forget", { import: id })}">Forget this import…</a></p>`
      : html`<div class="command inline">${copyable(forgetImportCommand(changes, id), "forget-import", "forget this import")}</div>`;
  return html`<p>Facts from import <strong>${line(id)}</strong>, without those edited since.</p>${change}`;
}
