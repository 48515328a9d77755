/**
 * Building blocks of pages, with all text escaped.
 *
 * Threat: anyone who can get a fact stored. Keys, values, categories, tags, and names of tools and writers may contain markup,
 * scripts and characters that reverse or hide text. `html` escapes everything inserted into it; `line` and `block` also escape
 * such Unicode characters. `raw` is used only for the page's own style and script.
 */
import { html } from "hono/html";
import { harmlessBlock, harmlessLine } from "../engine/facts/hostile-text.ts";
import { cutText } from "../engine/projections/frame.ts";

export type Html = ReturnType<typeof html>;

export { harmlessBlock as block, harmlessLine as line, html };

/** Length limit for a key in a list. */
const MOST_IN_LIST = 120;

/** A name on one line, cut if it is long. */
export function shortLine(text: string, most = MOST_IN_LIST): string {
  const whole = harmlessLine(text);
  return whole.length <= most ? whole : `${cutText(whole, most - 1)}…`;
}
