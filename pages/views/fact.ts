/** One fact: its value and how to change it, its history, who stored it, similar facts, and what only programs need. */

import { remedyFor } from "../../app/health/remedies.ts";
import type { FactHistory, FactView, FormerView } from "../../app/memory.ts";
import { firstWords } from "../../app/presenters/words.ts";
import { isHelmdeckError } from "../../engine/errors.ts";
import { DEFAULT_CATEGORY } from "../../engine/facts/facts-policy.ts";
import { importsOf } from "../../engine/facts/import-tag.ts";
import { ownTags } from "../../engine/facts/marks.ts";
import { isKnownTime } from "../../engine/rfc3339.ts";
import { changesOf, commandList, doneNotice, factCommands } from "../components/changes.ts";
import { categoryChip, factLink, factTitle, tagChips } from "../components/fact-row.ts";
import { answerOrReason, chip, empty, heading, notice } from "../components/parts.ts";
import { block, type Html, html, line, shortLine } from "../html.ts";
import { type Page, type PageContext, param } from "../page.ts";
import { counted, exactTime, size, time, writerWords } from "../words.ts";

const SIMILAR = 3;
const EXCERPT = 160;

export async function factPage(context: PageContext): Promise<Page> {
  const name = param(context, "key");
  if (name === undefined) return missing(context, undefined);
  try {
    const fact = await context.memory.getFact(context.subject, { key: name });
    const history = await answerOrReason(context.memory.factHistory(context.subject, { key: name }));
    if (fact !== undefined) return await whole(context, fact, history);
    return missing(context, typeof history === "string" ? undefined : history);
  } catch (error) {
    if (isHelmdeckError(error, "entry_unreadable")) return unreadable(context, name, error.message);
    throw error;
  }
}

/** `history`: a sentence if the source keeps no history. */
async function whole(
  context: PageContext,
  fact: FactView,
  history: FactHistory | string | undefined,
): Promise<Page> {
  const { key, value, path, fingerprint } = fact;
  const { former = [], undo = [] } = typeof history === "object" ? history : {};
  const title = firstWords(value, EXCERPT);
  const isWhole = title === block(value);
  const hasForms = context.viewer.changes.kind === "forms";
  const change = changes(context, fact, undo.length > 0);
  const body = html`${doneNotice(context)}${heading(title, html`<span class="mono">${line(key)}</span> ${fact.pinned && chip("pinned", "ok")}`)}
${!isWhole && html`<section class="card" aria-label="Value"><pre class="value">${block(value)}</pre></section>`}${hasForms && change}
<h2>Former values</h2>
${typeof history === "string" ? html`<p class="muted">${line(history)}</p>` : historyList(context, key, former)}
<h2>About it</h2>
<section class="card pad" aria-label="About it">${about(context, fact)}</section>
${!hasForms && html`<h2>Change it</h2>${change}`}
<h2>Similar</h2>
${await similar(context, fact)}
<h2>For programs</h2>
<section class="card pad" aria-label="For programs"><dl class="facts"><dt>Fingerprint</dt><dd><code>${fingerprint}</code></dd><dt>Size</dt><dd>${size(Buffer.byteLength(value))}</dd><dt>Path</dt><dd><code>${line(path)}</code></dd></dl></section>`;
  return { title: shortLine(key, 80), section: "facts", body };
}

function about(context: PageContext, fact: FactView): Html {
  const { now, links } = context;
  const { category, createdAt, updatedAt, expiresAt, writer } = fact;
  const tags = ownTags(fact.tags);
  const imports = importsOf(fact.tags);
  return html`<dl class="facts">
<dt>Stored by</dt><dd>${writer === undefined ? html`<span class="muted">not known</span>` : line(writerWords(writer))}</dd>
<dt>First stored</dt><dd>${exactTime(now, createdAt)}</dd>
<dt>Last stored</dt><dd>${exactTime(now, updatedAt)}</dd>
<dt>Expires</dt><dd>${expiresAt === undefined ? (isKnownTime(updatedAt) ? "never" : exactTime(now, updatedAt)) : exactTime(now, expiresAt)}</dd>
${category !== DEFAULT_CATEGORY && html`<dt>Category</dt><dd><a href="${links.to("/facts", { category })}">${categoryChip(fact)}</a></dd>`}
${tags.length > 0 && html`<dt>Tags</dt><dd>${tagChips(context, tags, tags.length)}</dd>`}
${imports.map((id) => html`<dt>Imported with</dt><dd><a href="${links.to("/facts", { tag: `import:${id}` })}">import ${line(id)}</a></dd>`)}
</dl>`;
}

function changes({ viewer, links }: PageContext, fact: FactView, canUndo: boolean): Html {
  if (viewer.changes.kind === "commands") {
    return html`<p class="muted">This page is read-only. To change something, copy a command into a terminal.</p>${commandList(factCommands(viewer.changes, fact, canUndo))}`;
  }
  const buttons = changesOf(canUndo).map(
    ({ name }, at) =>
      html`<a class="${at === 0 ? "button primary" : "button"}" href="${links.to(`/${name.toLowerCase()}`, { key: fact.key })}">${name === "Pin" && fact.pinned ? "Keep pinned, or unpin" : name}</a>`,
  );
  return html`<div class="actions">${buttons}</div>`;
}

function historyList(context: PageContext, key: string, former: readonly FormerView[]): Html {
  if (former.length === 0)
    return html`<p class="muted">None: the value never changed, or its former values are no longer kept.</p>`;
  return html`<p class="muted">${counted(former.length, "former value")}, newest first. Searches do not find them.</p>
<ol class="card rows">${former.map((one) => formerRow(context, key, one))}</ol>`;
}

function formerRow({ now }: PageContext, key: string, former: FormerView): Html {
  const isOther = former.key !== key;
  return html`<li><details><summary>${firstWords(former.value, EXCERPT)}</summary><pre>${block(former.value)}</pre></details>
<div class="meta"><span>stored ${time(now, former.updatedAt)}</span>${former.writer && html`<span>by ${shortLine(writerWords(former.writer))}</span>`}${
    isOther
      ? html`<span>stored under <strong>${shortLine(former.key)}</strong>, which this fact superseded</span>`
      : undefined
  }</div></li>`;
}

/** Found by the agent's own search for the fact's text. Empty if that fails, because the page does not depend on it. */
async function similar(context: PageContext, { key, value }: FactView): Promise<Html> {
  const { memory, subject } = context;
  const found = await memory.search(subject, { query: value, limit: 10 }).catch(() => undefined);
  const others = (found?.results ?? [])
    .filter((hit) => hit.kind === "fact" && hit.key !== key)
    .slice(0, SIMILAR);
  if (others.length === 0) return html`<p class="muted">No similar facts.</p>`;
  const facts = await Promise.all(
    others.map((hit) => memory.getFact(subject, { key: hit.key }).catch(() => undefined)),
  );
  return html`<ul class="card rows">${facts.map(
    (fact) => fact && html`<li>${factTitle(context, fact)}</li>`,
  )}</ul>`;
}

function missing(context: PageContext, history: FactHistory | undefined): Page {
  const { links } = context;
  const body =
    history === undefined
      ? empty(
          "There is no such fact.",
          "It may have expired, been forgotten, or never existed. Keys must match exactly, including case.",
          html`<a href="${links.to("/facts")}">Show all facts</a>`,
        )
      : empty(
          "This fact no longer exists.",
          html`Another one superseded it: ${factLink(context, history.key)}. Its history has this fact's value.`,
        );
  return { title: "No such fact", section: "facts", status: 404, body: html`${heading("Fact")}${body}` };
}

function unreadable(context: PageContext, key: string, message: string): Page {
  const { viewer, links } = context;
  const forget =
    viewer.changes.kind === "forms" &&
    html`<p><a class="button" href="${links.to("/forget", { key })}">Forget it</a></p>`;
  const body = html`${heading(line(key))}${notice("bad", line(message))}<p>${remedyFor("entry_unreadable")}</p>${forget}`;
  return { title: "A fact that cannot be opened", section: "facts", body };
}
