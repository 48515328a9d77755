/** The results of a search as the agent sees them, with explanations. */
import type { RecallHit, SearchAnswer } from "../../app/memory.ts";
import { firstWords, possiblyRelated, unmatchedText, whyFound } from "../../app/presenters/words.ts";
import { isHelmdeckError } from "../../engine/errors.ts";
import { factLink } from "../components/fact-row.ts";
import { chip, empty, nothingStored, notice } from "../components/parts.ts";
import { type Html, html, line, shortLine } from "../html.ts";
import type { PageContext } from "../page.ts";
import { counted, time, writerWords } from "../words.ts";

const SNIPPET_CHARACTERS = 320;
const KINDS = { fact: "fact", pack: "pack call", pipeline: "pipeline run", tool: "tool call" } as const;

type LeftOut = NonNullable<SearchAnswer["leftOut"]>;

export async function searchResults(context: PageContext, query: string): Promise<Html> {
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
  if (best === undefined) return unmatched === undefined ? nothingFound() : nothing(context, unmatched, hint);
  const words = askedWords(query);
  const said = best.possible
    ? "No sure answer. The agent sees these hits, marked as only possibly related:"
    : `${counted(results.length, "answer")}, as the agent sees ${results.length === 1 ? "it" : "them"}. A sure one has what you asked for.`;
  return html`<p role="status">${said} <span class="muted">Searched by ${mode === "hybrid" ? "keywords and meaning" : "keywords"}.</span></p>
<ol class="card rows">${results.map((hit) => hitRow(context, hit, words, mode))}</ol>`;
}

function nothing(
  context: PageContext,
  unmatched: NonNullable<SearchAnswer["unmatched"]>,
  hint: string | undefined,
): Html {
  if (unmatched.facts + unmatched.auditRows === 0) return nothingStored(context);
  return empty(
    "No answer in this memory.",
    unmatchedText(unmatched, "the agent is told so"),
    ...(hint === undefined ? [] : [hint]),
    html`Try other or fewer words, or <a href="${context.links.to("/facts")}">browse all facts</a>.`,
  );
}

function nothingFound(): Html {
  return empty("No hits yet.", "Memory is still being indexed. Search again in a moment.");
}

function hitRow(
  context: PageContext,
  hit: RecallHit,
  words: ReadonlySet<string>,
  mode: SearchAnswer["mode"],
): Html {
  const { possible, why, kind, category, updatedAt, writer, conflictsWith = [] } = hit;
  return html`<li>
<div class="head"><h3>${hitLink(context, hit)}</h3>${possible ? chip(possiblyRelated(why), "warn") : chip("sure", "ok")}</div>
<p>${marked(firstWords(textOf(hit), SNIPPET_CHARACTERS), words)}</p>
<div class="meta">${kind === "fact" ? chip(line(category)) : chip(KINDS[kind], "soft")}<span>stored ${time(context.now, updatedAt)}</span>${writer && html`<span>by ${shortLine(writerWords(writer))}</span>`}</div>
${conflictsWith.map((other) => html`<p class="meta">${chip("contradicts", "warn")}<span>${factLink(context, other.key)}, stored ${time(context.now, other.updatedAt)}</span></p>`)}
<ul class="why" aria-label="Why it was found">${whyHit(hit, words, mode).map((text) => html`<li>${text}</li>`)}</ul>
</li>`;
}

/** A run links to its place in the timeline. */
function hitLink(context: PageContext, { kind, key, title, updatedAt }: RecallHit): Html {
  if (kind === "fact") return factLink(context, key);
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
  return html`<details class="actions"><summary>Near misses that the agent does not see (${others.length})</summary>
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
