/** Two states of a fact side by side: before and after, or theirs and yours. */
import { block, type Html, html, line } from "../html.ts";
import { expiryText } from "./expiry-text.ts";

export interface Shown {
  readonly value: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly expiresAt?: number | undefined;
}

export function sideBySide(
  now: number,
  [leftName, left]: readonly [string, Shown | undefined],
  [rightName, right]: readonly [string, Shown | undefined],
): Html {
  return html`<div class="two">${side(now, leftName, left)}${side(now, rightName, right)}</div>`;
}

function side(now: number, name: string, shown: Shown | undefined): Html {
  if (shown === undefined) {
    return html`<section class="card" aria-label="${name}"><p class="label">${name}</p><p class="value muted">Nothing is there.</p></section>`;
  }
  return html`<section class="card" aria-label="${name}"><p class="label">${name}</p><pre class="value">${block(shown.value)}</pre>
<p class="label">Category ${line(shown.category)} · tags ${shown.tags.length === 0 ? "none" : shown.tags.map(line).join(", ")} · expires ${expiryText(now, shown.expiresAt)}</p></section>`;
}
