/** The facts of a memory, pinned ones first, then newest first, or by category; or the results of a search. */

import type { FactsQuery, RecallHit, SearchAnswer } from "../../app/memory.ts";
import { firstWords, possiblyRelated, unmatchedText, whyFound } from "../../app/presenters/words.ts";
import { isAuditCategory } from "../../engine/audit/audit-keys.ts";
import { defined } from "../../engine/defined.ts";
import { isHelmdeckError } from "../../engine/errors.ts";
import { DEFAULT_CATEGORY } from "../../engine/facts/facts-policy.ts";
import { importsOf } from "../../engine/facts/import-tag.ts";
import type { ExpiringFacts } from "../../engine/projections/my-memory.ts";
import { copyable, doneNotice, forgetImportCommand } from "../components/changes.ts";
import { categoryChip, factLink, selectableRow, unreadableRows } from "../components/fact-row.ts";
import {
  chip,
  empty,
  heading,
  hiddenFields,
  nothingStored,
  notice,
  pager,
  selectable,
} from "../components/parts.ts";
import { type Html, html, line, shortLine } from "../html.ts";
import { type Page, type PageContext, param } from "../page.ts";
import { counted, time, writerWords } from "../words.ts";

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
  return html`${counted(facts, "fact")}${runs > 0 && html` · <a href="${links.to("/timeline", { kind: "run" })}">${counted(runs, "record")} of what tools did</a>`}${
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
  if (param(context, "by") === "category") return grouped(context, overview);
  const { facts, unreadable, nextCursor } = await memory.listFacts(subject, { ...asked, limit: PAGE_FACTS });
  if (facts.length + unreadable.length === 0) return nothing(context, overview, asked);
  return html`${filters(context, overview, asked)}${tag !== undefined && imported(context, tag)}${unreadableRows(context, unreadable)}
${selectable(context, "/facts", asked, html`<ul class="card rows">${facts.map((fact) => selectableRow(context, fact))}</ul>`)}${pager(context, "/facts", asked, nextCursor)}`;
}

const MOST_GROUPS = 20;
const GROUP_FACTS = 5;

/** The newest facts of each category, the largest category first. */
async function grouped(context: PageContext, overview: Overview): Promise<Html> {
  const { memory, subject, links } = context;
  const sorted = overview.categories.toSorted((one, other) => other.count - one.count);
  const groups = await Promise.all(
    sorted.slice(0, MOST_GROUPS).map(async ({ name, count }) => {
      const { facts } = await memory.listFacts(subject, { category: name, limit: GROUP_FACTS });
      const more = count - facts.length;
      return html`<h2>${categoryName(name)} <span class="muted">(${count})</span></h2><ul class="card rows">${facts.map((fact) => selectableRow(context, fact))}</ul>${
        more > 0 &&
        html`<p><a href="${links.to("/facts", { category: name })}">Show ${more} more in ${categoryName(name)}</a></p>`
      }`;
    }),
  );
  const rest = sorted.length - groups.length;
  return html`${filters(context, overview, {})}${selectable(context, "/facts", { by: "category" }, html`${groups}`)}${
    rest > 0 &&
    html`<p class="muted">And ${counted(rest, "smaller category", "smaller categories")}: choose one above.</p>`
  }`;
}

function categoryName(name: string): string {
  return name === DEFAULT_CATEGORY ? "Without a category" : line(name);
}

function nothing(context: PageContext, overview: Overview, asked: FactsQuery): Html {
  if (Object.keys(asked).length === 0) return nothingStored(context, overview.note);
  const { links } = context;
  return html`${filters(context, overview, asked)}${empty(
    "No fact matches.",
    `None of ${counted(overview.facts, "fact")} matches the filters.`,
    html`<a href="${links.to("/facts")}">Show all facts</a>`,
  )}`;
}

function filters(
  context: PageContext,
  { categories }: Overview,
  { category, prefix, tag }: FactsQuery,
): Html {
  const { links } = context;
  const isGrouped = param(context, "by") === "category";
  const isNarrow = isGrouped || (category ?? prefix ?? tag) !== undefined;
  const known = categories.some(({ name }) => name === category);
  const odd = category !== undefined && !known ? [{ name: category, count: 0 }] : [];
  return html`<form class="filters" method="get" action="${links.path("/facts")}">${hiddenFields(links.hidden)}
<label>Category<select name="category"><option value="">All categories</option>${[...categories, ...odd].map(
    ({ name, count }) =>
      name === category
        ? html`<option value="${name}" selected>${categoryName(name)} (${count})</option>`
        : html`<option value="${name}">${categoryName(name)} (${count})</option>`,
  )}</select></label>
<label>Key begins with<input type="text" name="prefix" value="${prefix ?? ""}" autocomplete="off"></label>
<label>Tag<input type="text" name="tag" value="${tag ?? ""}" autocomplete="off"></label>
<button>Filter</button>${categories.length > 1 && !isGrouped && html`<a class="button" href="${links.to("/facts", { by: "category" })}">Group by category</a>`}${isNarrow && html`<a class="button quiet" href="${links.to("/facts")}">Show all</a>`}</form>`;
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

const SNIPPET_CHARACTERS = 320;
const KINDS = { fact: "fact", pack: "pack call", pipeline: "pipeline run", tool: "tool call" } as const;

type LeftOut = NonNullable<SearchAnswer["leftOut"]>;

async function searchResults(context: PageContext, query: string): Promise<Html> {
  const { memory, subject } = context;
  try {
    const answer = await memory.search(subject, { query, explain: true });
    return html`${reason(answer)}${found(context, query, answer)}${leftOut(context, answer.leftOut ?? [])}`;
  } catch (error) {
    if (isHelmdeckError(error, "invalid_input")) return notice("bad", line(error.message));
    throw error;
  }
}

function reason({ reason: why, incomplete }: SearchAnswer): Html | undefined {
  if (why === undefined) return undefined;
  return notice("warn", `${line(why)}${incomplete ? " Search again in a moment." : ""}`);
}

function found(context: PageContext, query: string, answer: SearchAnswer): Html {
  const { results, mode, unmatched, hint } = answer;
  const [best] = results;
  if (best === undefined) return noAnswer(context, unmatched, hint);
  const words = askedWords(query);
  const said = best.possible
    ? "No sure answer. The agent sees these hits, marked as only possibly related:"
    : `${counted(results.length, "answer")}, as the agent sees ${results.length === 1 ? "it" : "them"}. A sure one has what you asked for.`;
  return html`<p role="status">${said} <span class="muted">Searched by ${mode === "hybrid" ? "keywords and meaning" : "keywords"}.</span></p>
<ol class="card rows">${results.map((hit) => hitRow(context, hit, words, mode))}</ol>`;
}

function noAnswer(
  context: PageContext,
  unmatched: SearchAnswer["unmatched"],
  hint: string | undefined,
): Html {
  if (unmatched === undefined)
    return empty("No hits yet.", "Memory is still being indexed. Search again in a moment.");
  if (unmatched.facts + unmatched.auditRows === 0)
    return nothingStored(context, unmatchedText(unmatched, ""));
  return empty(
    "No answer in this memory.",
    unmatchedText(unmatched, "the agent is told so"),
    ...(hint === undefined ? [] : [hint]),
    html`Try other or fewer words, or <a href="${context.links.to("/facts")}">browse all facts</a>.`,
  );
}

function hitRow(
  context: PageContext,
  hit: RecallHit,
  words: ReadonlySet<string>,
  mode: SearchAnswer["mode"],
): Html {
  const { possible, why, kind, key, updatedAt, writer, conflictsWith = [] } = hit;
  const isFact = kind === "fact";
  const text = html`${marked(firstWords(textOf(hit), SNIPPET_CHARACTERS), words)}`;
  return html`<li>
<div class="head"><h3>${isFact ? factLink(context, key, text) : runLink(context, hit)}</h3>${possible ? chip(possiblyRelated(why), "warn") : chip("sure", "ok")}</div>
<p${isFact && html` class="mono"`}>${isFact ? shortLine(key) : text}</p>
<div class="meta">${isFact ? categoryChip(hit) : chip(KINDS[kind], "soft")}<span>stored ${time(context.now, updatedAt)}</span>${writer && html`<span>by ${shortLine(writerWords(writer))}</span>`}</div>
${conflictsWith.map((other) => html`<p class="meta">${chip("contradicts", "warn")}<span>${factLink(context, other.key)}, stored ${time(context.now, other.updatedAt)}</span></p>`)}
<ul class="why" aria-label="Why it was found">${whyHit(hit, words, mode).map((text) => html`<li>${text}</li>`)}</ul>
</li>`;
}

/** A run links to its place in the timeline. */
function runLink(context: PageContext, { key, title, updatedAt }: RecallHit): Html {
  return html`<a href="${context.links.to("/timeline", { until: updatedAt })}">${shortLine(title || key)}</a>`;
}

/** Without the document's own heading and category line, which the row shows separately. */
function textOf({ snippet, key, category }: RecallHit): string {
  const heading = `## ${key}\n`;
  const whole = snippet.startsWith(heading) ? snippet.slice(heading.length) : snippet;
  const ending = `(category: ${category})`;
  return (whole.endsWith(ending) ? whole.slice(0, -ending.length) : whole).trim();
}

function leftOut(context: PageContext, others: LeftOut): Html | undefined {
  if (others.length === 0) return undefined;
  return html`<details class="below"><summary>Near misses that the agent does not see (${others.length})</summary>
<ul class="card rows">${others.map(
    ({ key, path, why }) =>
      html`<li><h3>${leftOutLink(context, key, path)}</h3><p class="muted">${line(why)}</p></li>`,
  )}</ul></details>`;
}

function leftOutLink(context: PageContext, key: string, path: string): Html {
  return /^helmdeck\/(pack|pipeline|tool)_history\//.test(path)
    ? html`${shortLine(key)}`
    : factLink(context, key);
}

/** The words that it has first. */
function whyHit(hit: RecallHit, asked: ReadonlySet<string>, mode: SearchAnswer["mode"]): readonly string[] {
  const words = wordsText(matches(`${hit.key} ${hit.title} ${hit.snippet}`, asked));
  return [...(words === undefined ? [] : [words]), ...whyFound(hit.parts ?? {}, mode, words === undefined)];
}

/** `Words of the query in it: "konflux", "deploy" (as "deployment").` */
function wordsText(found: ReadonlyMap<string, string>): string | undefined {
  if (found.size === 0) return undefined;
  const words = [...found]
    .slice(0, 8)
    .map(([asked, as]) => (asked === as ? quoted(asked) : `${quoted(asked)} (as ${quoted(as)})`));
  return `Words of the query in it: ${words.join(", ")}.`;
}

function quoted(word: string): string {
  return `“${shortLine(word, 40)}”`;
}

const WORDS = /([\p{L}\p{M}\p{N}]+)/u;
/** Stop words. */
const EVERYDAY = new Set(
  "a an and are as at be been by can did do does for from has have how i in is it me my of on or our so that the their them there these they this to us was we were what when where which who why will with you your".split(
    " ",
  ),
);
const SHARED_LETTERS = 4;
const SHARED_SHARE = 0.65;

/**
 * Finds a query's words in a text, to show why it was found.
 *
 * The query's words in lower case, without stop words unless there are no others.
 */
function askedWords(query: string): ReadonlySet<string> {
  const words = query.toLowerCase().match(new RegExp(WORDS, "gu")) ?? [];
  const telling = words.filter((word) => !EVERYDAY.has(word));
  return new Set(telling.length > 0 ? telling : words);
}

/** The query word that this word equals or is another form of. */
function askedAs(word: string, asked: ReadonlySet<string>): string | undefined {
  const lower = word.toLowerCase();
  if (asked.has(lower)) return lower;
  return [...asked].find((other) => isOtherForm(lower, other));
}

function isOtherForm(word: string, other: string): boolean {
  let shared = 0;
  while (shared < word.length && word[shared] === other[shared]) shared += 1;
  return shared >= SHARED_LETTERS && shared >= SHARED_SHARE * Math.max(word.length, other.length);
}

/** The text with the query's words marked. */
function marked(text: string, asked: ReadonlySet<string>): readonly Html[] {
  return text
    .split(WORDS)
    .map((part, at) =>
      at % 2 === 1 && askedAs(part, asked) !== undefined ? html`<mark>${part}</mark>` : html`${part}`,
    );
}

/** Each query word found in the text, with the form found there. */
function matches(text: string, asked: ReadonlySet<string>): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [word] of text.matchAll(new RegExp(WORDS, "gu"))) {
    const as = askedAs(word, asked);
    if (as !== undefined && (!found.has(as) || word.toLowerCase() === as)) found.set(as, word.toLowerCase());
  }
  return found;
}
