/** What a page says where nothing is there yet: how something comes in. */
import { type Html, html } from "../html.ts";
import type { PageContext } from "../page.ts";
import { empty } from "./parts.ts";

export function nothingStored({ viewer: { changes }, subject }: PageContext): Html {
  if (changes.kind === "forms" && changes.signOutPath === undefined) return nothingOfNobody(subject);
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

/** Whoever looks for their agent's memory is told where it is. */
function nothingOfNobody(subject: string): Html {
  return empty(
    "Nothing is stored here.",
    `Nobody signs in to this server, so this is the memory of ${subject}, and not your agent's.`,
    html`To see your agent's, start the server with a secret (<code>HELMDECK_JWT_SECRET_FILE</code>), and sign in with a token for it: <code>helmdeck-memory token --subject main</code>`,
  );
}
