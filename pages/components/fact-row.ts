/** A fact in a list: its text as the title, its key and its details beneath, and a box to select it. */
import type { FactView } from "../../app/memory.ts";
import { firstWords } from "../../app/presenters/words.ts";
import { DEFAULT_CATEGORY } from "../../engine/facts/facts-policy.ts";
import { ownTags } from "../../engine/facts/marks.ts";
import { isKnownTime } from "../../engine/rfc3339.ts";
import { type Html, html, line, shortLine } from "../html.ts";
import { type PageContext, param } from "../page.ts";
import { time } from "../words.ts";
import { chip, notice } from "./parts.ts";

const TITLE_CHARACTERS = 180;
/** In a list. */
const MOST_TAGS = 4;

/** `text`: by default the key. */
export function factLink({ links }: PageContext, key: string, text: Html | string = shortLine(key)): Html {
  return html`<a href="${links.to("/fact", { key })}">${text}</a>`;
}

/** The text of a fact as a title that leads to it, and its key. */
export function factTitle(context: PageContext, { key, value }: Pick<FactView, "key" | "value">): Html {
  return html`<h3>${factLink(context, key, firstWords(value, TITLE_CHARACTERS))}</h3><p class="mono">${shortLine(key)}</p>`;
}

export function factRow(context: PageContext, fact: FactView, below?: Html): Html {
  return html`<li>${contentOf(context, fact)}${below}</li>`;
}

/** With a box to select it, if these pages have forms. */
export function selectableRow(context: PageContext, fact: FactView, below?: Html): Html {
  if (context.viewer.changes.kind !== "forms") return factRow(context, fact, below);
  const { key } = fact;
  const checked = param(context, "select") === "all" && html` checked`;
  return html`<li class="pick"><input type="checkbox" name="chosen" value="${key}" aria-label="Select ${shortLine(key, 60)}"${checked}><div>${contentOf(context, fact)}${below}</div></li>`;
}

function contentOf(context: PageContext, fact: FactView): Html {
  const { updatedAt, expiresAt, pinned } = fact;
  return html`${factTitle(context, fact)}<div class="meta">${pinned && chip("pinned", "ok")}${categoryChip(fact)}${tagChips(context, ownTags(fact.tags))}<span>stored ${time(context.now, updatedAt)}</span>${isKnownTime(updatedAt) && html`<span>${endOf(context.now, expiresAt)}</span>`}</div>`;
}

/** Undefined for the category of a fact that was stored without one. */
export function categoryChip({ category }: Pick<FactView, "category">): Html | undefined {
  return category === DEFAULT_CATEGORY ? undefined : chip(line(category));
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
