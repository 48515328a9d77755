/** The results of a search as the agent sees them, with explanations. */

import type { RecallHit, SearchAnswer } from "../../app/memory.ts";
import { firstWords } from "../../app/presenters/words.ts";
import { unmatchedText } from "../../app/searching.ts";
import { isHelmdeckError } from "../../engine/errors.ts";
import { writerText } from "../../engine/projections/frame.ts";
import { factLink } from "../components/fact-row.ts";
import { nothingStored } from "../components/nothing-stored.ts";
import { chip, empty, notice } from "../components/parts.ts";
import { type Html, html, line, shortLine } from "../html.ts";
import type { PageContext } from "../page.ts";
import { counted, time } from "../words.ts";
import { askedWords, marked } from "./matched-words.ts";
import { partsTable, whyHit } from "./why.ts";

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
  const { results, mode, unmatched } = answer;
  const [best] = results;
  if (best === undefined) return unmatched === undefined ? nothingFound() : nothing(context, unmatched);
  const words = askedWords(query);
  const said = best.possible
    ? "No sure answer. The agent sees these hits, marked as only possibly related:"
    : `${counted(results.length, "answer")}, as the agent sees ${results.length === 1 ? "it" : "them"}:`;
  return html`<p role="status">${said} <span class="muted">Searched by ${mode === "hybrid" ? "keywords and meaning" : "keywords"}.</span></p>
<ol class="card rows">${results.map((hit) => hitRow(context, hit, words, mode))}</ol>`;
}

function nothing(context: PageContext, unmatched: NonNullable<SearchAnswer["unmatched"]>): Html {
  if (unmatched.facts + unmatched.auditRows === 0) return nothingStored(context);
  return empty(
    "No answer in this memory.",
    unmatchedText(unmatched, "the agent is told so"),
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
  const { possible, score, kind, category, updatedAt, writer } = hit;
  return html`<li>
<div class="head"><h3>${hitLink(context, hit)}</h3>${chip(possible ? "possible" : "sure", possible ? "warn" : "ok")}</div>
<p>${marked(firstWords(textOf(hit), SNIPPET_CHARACTERS), words)}</p>
<div class="meta">${kind === "fact" ? chip(line(category)) : chip(KINDS[kind], "soft")}<span>stored ${time(context.now, updatedAt)}</span>${writer && html`<span>by ${shortLine(writerText(writer))}</span>`}</div>
<ul class="why" aria-label="Why it was found">${whyHit(hit, words, mode).map((text) => html`<li>${text}</li>`)}</ul>
${hit.parts && html`<details><summary>Score ${score.toFixed(2)}: features and weights</summary>${partsTable(hit.parts)}</details>`}
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
    ({
      key,
      path,
      why,
      parts,
    }) => html`<li><h3>${leftOutLink(context, key, path)}</h3><p class="muted">${line(why)}</p>
<details><summary>Features and weights</summary>${partsTable(parts)}</details></li>`,
  )}</ul></details>`;
}

function leftOutLink(context: PageContext, key: string, path: string): Html {
  return /^helmdeck\/(pack|pipeline|tool)_history\//.test(path)
    ? html`${shortLine(key)}`
    : factLink(context, key);
}
