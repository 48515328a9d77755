/** The empty state: says how to store something. */
import { type Html, html } from "../html.ts";
import type { PageContext } from "../page.ts";
import { empty } from "./parts.ts";

export function nothingStored({ viewer: { changes }, subject }: PageContext): Html {
  if (changes.kind === "forms" && changes.signOutPath === undefined) return nothingOfNobody(subject);
  const byHand =
    changes.kind === "forms"
      ? "Or press “Remember something” above."
      : html`Or on a command line: <code>${changes.program} store KEY "the text"${changes.options === "" ? "" : ` ${changes.options}`}</code>`;
  return empty(
    "Nothing has been stored yet.",
    "Tell your agent: “Remember that we deploy through Konflux, never on Fridays.”",
    byHand,
  );
}

/** Without sign-in, tells a person how to reach their agent's memory. */
function nothingOfNobody(subject: string): Html {
  return empty(
    "Nothing is stored here.",
    `This server has no sign-in, so this is the memory of ${subject}, not of your agent.`,
    html`To see your agent's memory, start the server with a secret (<code>HELMDECK_JWT_SECRET_FILE</code>), and sign in with a token for it: <code>helmdeck-memory token --subject main</code>`,
  );
}
