/** The short notice after a change. The address selects it by one of these words and cannot add text. */
import { notice } from "../components/parts.ts";
import type { Html } from "../html.ts";
import { type PageContext, param } from "../page.ts";

const DONE = new Map([
  ["stored", "Stored."],
  ["saved", "Saved. Its value is the same as before."],
  ["edited", "Saved. The former value is in its history."],
  ["renewed", "Renewed."],
  ["superseded", "Stored. The old fact is retired; its value is in this fact's history."],
  ["undone", "Undone. The former value is restored."],
  ["forgotten", "Forgotten, and erased from the database."],
  [
    "pending",
    "Forgotten: no answer shows it any more. The encrypted bytes are erased from the database file shortly.",
  ],
  ["deleted", "Forgotten: helmdeck deleted it. Its database may keep the encrypted bytes for a while."],
  ["nothing", "There was nothing left to forget."],
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
