/** What a page says where nothing is there yet: how something comes in. */
import { type Html, html } from "../html.ts";
import type { PageContext } from "../page.ts";
import { empty } from "./parts.ts";

export function nothingStored({ viewer: { changes } }: PageContext): Html {
  const byHand =
    changes.kind === "forms"
      ? "Or press “Remember something” above."
      : html`Or by hand: <code>${changes.program} store KEY "the text"${changes.options === "" ? "" : ` ${changes.options}`}</code>`;
  return empty(
    "Nothing is stored yet.",
    "Tell your agent: “Remember that we deploy through Konflux, never on Fridays.”",
    byHand,
  );
}
