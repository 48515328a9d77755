/**
 * What pages are made of: text that is escaped, and nothing else.
 *
 * Who attacks: whoever can get a fact stored. Keys, values, categories, tags, names of tools and writers may hold markup, scripts and
 * characters that turn or hide text. `html` escapes whatever is put into it; `line` and `block` spell out what Unicode can do
 * besides. `raw` stands in one place only, for the page's own style and script.
 */
import { html } from "hono/html";
import { cutText, harmlessBlock, harmlessLine } from "../app/index.ts";

export type Html = ReturnType<typeof html>;

export { harmlessBlock as block, harmlessLine as line, html };

/** Of a key, in a list. */
const MOST_IN_LIST = 120;

/** A name on one line, cut where it is long. */
export function shortLine(text: string, most = MOST_IN_LIST): string {
  const whole = harmlessLine(text);
  return whole.length <= most ? whole : `${cutText(whole, most - 1)}…`;
}
