/** What memory did unasked with a person's last messages: which facts were added, which were withheld and why, and what was kept. */
import { HelmdeckError } from "../../engine/errors.ts";
import { factLink } from "../components/fact-row.ts";
import { chip, empty, heading } from "../components/parts.ts";
import { type Html, html, line } from "../html.ts";
import type { Page, PageContext } from "../page.ts";
import type { FactNamed, UnaskedTurn } from "../viewer.ts";
import { exactTime } from "../words.ts";

const TITLE = "Unasked";

export async function unaskedPage(context: PageContext): Promise<Page> {
  const { viewer } = context;
  if (viewer.unasked === undefined) {
    throw new HelmdeckError("not_found", "Only the tab Agent memory in OpenClaw's Control UI shows this.");
  }
  const turns = viewer.unasked();
  const body = html`${heading(TITLE, "What came with the last messages without being asked for, what was held back, and which requests were kept. Known only until OpenClaw restarts, and stored nowhere.")}
${turns.length === 0 ? nothing() : html`<ul class="card rows">${turns.map((turn) => row(context, turn))}</ul>`}`;
  return { title: TITLE, section: "unasked", body };
}

function nothing(): Html {
  return empty(
    "Nothing was added to a message, and no request was kept, since OpenClaw started.",
    html`<code>autoRecall</code> and <code>captureRequests</code> in the plugin's configuration turn this on.`,
  );
}

function row(context: PageContext, { at, outcome, added, withheld, kept }: UnaskedTurn): Html {
  const nothingAdded = outcome ?? (added.length === 0 ? "nothing is sure" : undefined);
  const named = (word: string, tone: "ok" | "soft", facts: readonly FactNamed[]) =>
    facts.map(({ key, why }) => detail(chip(word, tone), html`${factLink(context, key)}: ${line(why)}`));
  return html`<li><h3>Message of ${exactTime(context.now, at)}</h3>${
    nothingAdded && html`<p class="muted">Nothing added: ${line(nothingAdded)}.</p>`
  }${named("added", "ok", added)}${named("held back", "soft", withheld)}${
    kept !== undefined &&
    detail(chip("kept", "ok"), html`your request, as ${factLink(context, kept)}, where it can be forgotten`)
  }</li>`;
}

function detail(mark: Html, text: Html): Html {
  return html`<div class="finding"><div>${mark}</div><div><p>${text}</p></div></div>`;
}
