/** What memory did unasked with a person's last messages: its first words, which facts were added, which were not and why, and what was kept. */
import { HelmdeckError } from "../../engine/errors.ts";
import { factLink } from "../components/fact-row.ts";
import { chip, empty, heading } from "../components/parts.ts";
import { type Html, html, line } from "../html.ts";
import type { Page, PageContext } from "../page.ts";
import type { FactNamed, UnaskedTurn } from "../viewer.ts";
import { counted, exactTime } from "../words.ts";

const TITLE = "Unasked";

export async function unaskedPage(context: PageContext): Promise<Page> {
  const { viewer } = context;
  if (viewer.unasked === undefined) {
    throw new HelmdeckError("not_found", "Only the tab Agent memory in OpenClaw's Control UI shows this.");
  }
  const turns = viewer.unasked();
  const body = html`${heading(TITLE, "Your last messages: which facts memory added to each by itself, which it did not and why, and which requests it kept. Known only until OpenClaw restarts, and stored nowhere.")}
${turns.length === 0 ? nothing() : html`<ul class="card rows">${turns.map((turn) => row(context, turn))}</ul>`}`;
  return { title: TITLE, section: "unasked", body };
}

function nothing(): Html {
  return empty(
    "Nothing was added to a message, and no request was kept, since OpenClaw started.",
    html`<code>autoRecall</code> and <code>captureRequests</code> in the plugin's configuration turn this on.`,
  );
}

function row(context: PageContext, { at, message, outcome, added, withheld, kept }: UnaskedTurn): Html {
  const nothing = outcome ?? "no fact is sure to answer it";
  const said =
    added.length === 0
      ? html`Nothing was added: ${line(nothing)}.`
      : html`${counted(added.length, "fact")} ${added.length === 1 ? "was" : "were"} added to the message.${outcome !== undefined && ` Note: ${line(outcome)}.`}`;
  const named = (word: string, tone: "ok" | "soft", facts: readonly FactNamed[]) =>
    facts.map(({ key, why }) => detail(chip(word, tone), html`${factLink(context, key)}: ${line(why)}`));
  return html`<li><h3>${message === undefined ? "A message" : `“${line(message)}”`}</h3><p class="meta">${exactTime(context.now, at)}</p><p>${said}</p>${named("added", "ok", added)}${named("not added", "soft", withheld)}${
    kept !== undefined &&
    detail(chip("kept", "ok"), html`your request, as ${factLink(context, kept)}, where it can be forgotten`)
  }</li>`;
}

function detail(mark: Html, text: Html): Html {
  return html`<div class="finding"><div>${mark}</div><div><p>${text}</p></div></div>`;
}
