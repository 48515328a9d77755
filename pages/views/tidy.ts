/** What somebody should decide: duplicates, conflicts, near-copies, similar facts, and what expires soon. */
import type { FactView, ReviewFinding } from "../../app/memory.ts";
import { findingTitle, foundText, NOTHING_TO_TIDY, sourceText } from "../../app/presenters/tidy-text.ts";
import { toKeep } from "../../app/tidying.ts";
import { defined } from "../../engine/defined.ts";
import { importsOf } from "../../engine/facts/import-tag.ts";
import { copyable, doneNotice, keepCommand, mergeCommand, tidyCommand } from "../components/changes.ts";
import { factRow } from "../components/fact-row.ts";
import { empty, heading, pager } from "../components/parts.ts";
import { type Html, html, line } from "../html.ts";
import { type Page, type PageContext, param } from "../page.ts";
import { writerWords } from "../words.ts";

const PAGE_FINDINGS = 20;

export async function tidyPage(context: PageContext): Promise<Page> {
  const { memory, subject } = context;
  const cursor = param(context, "cursor");
  const review = await memory.review(subject, { limit: PAGE_FINDINGS, ...defined({ cursor }) });
  const { findings, found, revision, nextCursor } = review;
  const about =
    findings.length === 0 ? undefined : html`${foundText(found)}. Nothing changes before a preview.`;
  const list = findings.map((finding, at) => findingCard(context, finding, { at, revision }));
  const body = html`${doneNotice(context)}${heading("Tidy up", about)}
${findings.length === 0 ? empty(NOTHING_TO_TIDY) : inShell(context)}${list}${pager(context, "/tidy", defined({ cursor }), nextCursor)}`;
  return { title: "Tidy up", section: "tidy", body };
}

function inShell({ viewer: { changes } }: PageContext): Html | undefined {
  if (changes.kind === "forms") return undefined;
  return html`<div class="card"><div class="command"><p><strong>Tidy up</strong> <span class="muted">Asks about one after the other.</span></p>${copyable(tidyCommand(changes), "tidy", "tidy")}</div></div>`;
}

interface Place {
  readonly at: number;
  readonly revision: number;
}

function findingCard(context: PageContext, finding: ReviewFinding, place: Place): Html {
  const { facts } = finding;
  const title = findingTitle(finding);
  const rows = facts.map((fact) =>
    factRow(context, fact, html`${source(fact)}${actionsOf(context, finding, fact)}`),
  );
  return html`<section aria-label="${title}: ${facts.map(({ key }) => line(key)).join(", ")}"><h2>${title}</h2><ul class="card rows">${rows}</ul>${below(context, finding, place)}</section>`;
}

function source(fact: FactView): Html | undefined {
  const { writer } = fact;
  const isImported = importsOf(fact.tags).length > 0;
  const text = writer === undefined || isImported ? sourceText(fact) : `by ${writerWords(writer)}`;
  return text === "" ? undefined : html`<p class="muted">${line(text)}</p>`;
}

function actionsOf(
  { viewer, links }: PageContext,
  { kind, facts }: ReviewFinding,
  fact: FactView,
): Html | undefined {
  if (viewer.changes.kind !== "forms") return undefined;
  const { key, pinned } = fact;
  const over = JSON.stringify(facts.filter((other) => other !== fact).map((other) => other.key));
  const [path, name] = pinned ? (["/pin", "Keep pinned"] as const) : (["/renew", "Renew"] as const);
  const keep =
    kind === "expiring"
      ? html`<a class="button small" href="${links.to(path, { key })}">${name}<span class="visually-hidden"> ${line(key)}</span></a>`
      : html`<a class="button small" href="${links.to("/merge", { key, over })}">Keep this one<span class="visually-hidden"> ${line(key)}</span></a>`;
  return html`<p class="chips">${keep}<a class="button small" href="${links.to("/forget", { key })}">Forget<span class="visually-hidden"> ${line(key)}</span></a></p>`;
}

/** Below all facts: what concerns them together. */
function below(
  { viewer: { changes }, links }: PageContext,
  finding: ReviewFinding,
  { at, revision }: Place,
): Html | undefined {
  const { kind, facts } = finding;
  const kept = toKeep(finding);
  if (changes.kind === "commands") {
    if (kept === undefined) return undefined;
    const others = facts.filter((fact) => fact !== kept);
    const text =
      kind === "expiring" ? keepCommand(changes, kept) : mergeCommand(changes, kept, others, revision);
    return html`<div class="command inline">${copyable(text, `tidy-${at}`, `keep ${line(kept.key)}`)}</div>`;
  }
  if (kind === "expiring") return undefined;
  const keys = JSON.stringify(facts.map(({ key }) => key));
  return html`<p><a class="button small" href="${links.to("/apart", { keys })}">Keep ${facts.length === 2 ? "both" : "all"}<span class="visually-hidden"> ${facts.map(({ key }) => line(key)).join(", ")}</span></a></p>`;
}
