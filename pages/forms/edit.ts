/** Changes the value, category, tags or lifetime of a fact. */
import type { FactView } from "../../app/memory.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { notice } from "../components/parts.ts";
import { block, html, line } from "../html.ts";
import { type Answer, type Fields, type PageContext, param, requireForms } from "../page.ts";
import { draftOfFact, inputOf } from "./draft.ts";
import { factAt } from "./seen.ts";
import { type StoreForm, storeForm, submitStore } from "./store-flow.ts";

export async function editForm(context: PageContext): Promise<Answer> {
  requireForms(context);
  const fact = await factToChange(context);
  const isSpelt = block(fact.value) !== fact.value || fact.tags.some((tag) => line(tag) !== tag);
  const above = isSpelt
    ? notice(
        "warn",
        html`This text has characters that hide or reverse text. They are shown escaped, such as [U+202E]. If you change the text, it is stored as shown here.`,
      )
    : undefined;
  return storeForm(context, specOf(fact.key, fact), draftOfFact(fact), { ...(above && { above }) });
}

export async function submitEdit(context: PageContext, fields: Fields): Promise<Answer> {
  requireForms(context);
  const key = param(context, "key") ?? "";
  return submitStore(context, specOf(key, await factAt(context, key)), fields);
}

/** The fact that the address names. Throws `not_found`. */
export async function factToChange(context: PageContext): Promise<FactView> {
  const key = param(context, "key");
  const fact = key === undefined ? undefined : await factAt(context, key);
  if (fact !== undefined) return fact;
  throw new HelmdeckError(
    "not_found",
    "This fact no longer exists: it has expired, was superseded, or was forgotten. To have it again, store it as a new fact.",
  );
}

/** `fact`: absent if it was forgotten since the form was opened. What was typed into the form is then kept. */
function specOf(key: string, fact: FactView | undefined): StoreForm {
  return {
    title: `Edit ${line(key)}`,
    path: "/edit",
    of: key,
    fields: { usualLife: "as before; the usual 90 days begin anew" },
    seen: fact?.revision,
    verb: "Save",
    done: "edited",
    input: (draft) => inputOf({ ...draft, key }, fact),
  };
}
