/** A fact in a list: its key, its first words and its details. */
import type { FactView } from "../../app/memory.ts";
import { firstWords } from "../../app/presenters/words.ts";
import { ownTags } from "../../engine/facts/marks.ts";
import { isKnownTime } from "../../engine/rfc3339.ts";
import { type Html, html, line, shortLine } from "../html.ts";
import type { PageContext } from "../page.ts";
import { time } from "../words.ts";
import { chip, notice } from "./parts.ts";

const FIRST_CHARACTERS = 180;
/** In a list. */
const MOST_TAGS = 4;

export function factLink({ links }: PageContext, key: string): Html {
  return html`<a href="${links.to("/fact", { key })}">${shortLine(key)}</a>`;
}

export function factRow(context: PageContext, fact: FactView, below?: Html): Html {
  const { key, value, category, updatedAt, expiresAt, pinned } = fact;
  return html`<li>
<h3>${factLink(context, key)}</h3>
<p>${firstWords(value, FIRST_CHARACTERS)}</p>
<div class="meta">${pinned && chip("pinned", "ok")}${chip(line(category))}${tagChips(context, ownTags(fact.tags))}<span>stored ${time(context.now, updatedAt)}</span>${isKnownTime(updatedAt) && html`<span>${endOf(context.now, expiresAt)}</span>`}</div>${below}
</li>`;
}

/** Each leads to the facts with this tag. */
export function tagChips(
  { links }: PageContext,
  tags: readonly string[],
  most = MOST_TAGS,
): Html | undefined {
  if (tags.length === 0) return undefined;
  const shown = tags
    .slice(0, most)
    .map((tag) => html`<a href="${links.to("/facts", { tag })}">${chip(shortLine(tag, 40))}</a>`);
  const more = tags.length - shown.length;
  return html`<span class="chips" role="group" aria-label="Tags">${shown}${more > 0 && html`<span>and ${more} more</span>`}</span>`;
}

function endOf(now: number, expiresAt: number | undefined): Html {
  if (expiresAt === undefined) return html`never expires`;
  return html`expires ${time(now, expiresAt)}`;
}

/** Rows that cannot be opened: always shown, with a remedy. */
export function unreadableRows(context: PageContext, keys: readonly string[]): Html | undefined {
  if (keys.length === 0) return undefined;
  const { links } = context;
  return notice(
    "warn",
    html`${keys.length === 1 ? "One fact" : `${keys.length} facts`} cannot be opened: changed, moved, or encrypted with another key. Store the fact again, restore a backup, or forget it; see <a href="${links.to("/health")}">Health</a>. ${keys.map(
      (key, at) => html`${at > 0 ? ", " : ""}${factLink(context, key)}`,
    )}`,
  );
}
