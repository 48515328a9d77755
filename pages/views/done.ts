/** The short notice after a change. The address names it by one of these words and brings no text of its own. */
import { notice } from "../components/parts.ts";
import type { Html } from "../html.ts";
import { type PageContext, param } from "../page.ts";

const DONE = new Map([
  ["stored", "Stored."],
  ["saved", "Saved. Its value is the same as before."],
  ["edited", "Saved. What it held before is in its history."],
  ["renewed", "Renewed."],
  ["superseded", "Stored. The other fact is retired; its value is in the history of this one."],
  ["undone", "Undone. What was there before is there again."],
  ["forgotten", "Forgotten: it is gone from memory and from the database."],
  [
    "pending",
    "Forgotten: it is gone from every answer. The database clears its old, sealed bytes away a little later.",
  ],
  ["deleted", "Forgotten: helmdeck deleted it. Its database may keep the encrypted bytes for a while."],
  ["nothing", "It is gone already: there was nothing left to forget."],
]);

export type Done =
  | "stored"
  | "saved"
  | "edited"
  | "renewed"
  | "superseded"
  | "undone"
  | "forgotten"
  | "pending"
  | "deleted"
  | "nothing";

export function doneNotice(context: PageContext): Html | undefined {
  const text = DONE.get(param(context, "done") ?? "");
  return text === undefined ? undefined : notice("ok", text);
}
