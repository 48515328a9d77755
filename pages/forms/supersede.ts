/** Stores a new fact that replaces another one. */
import type { FactView } from "../../app/memory.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { html, line } from "../html.ts";
import { type Answer, type Fields, type PageContext, param, requireForms } from "../page.ts";
import { draftOfFact, inputOf } from "./draft.ts";
import { factToChange } from "./edit.ts";
import { factAt } from "./seen.ts";
import { type StoreForm, storeForm, submitStore } from "./store-flow.ts";

export async function supersedeForm(context: PageContext): Promise<Answer> {
  requireForms(context);
  const fact = await factToChange(context);
  return storeForm(context, specOf(fact.key, fact), { ...draftOfFact(fact), key: "" });
}

export async function submitSupersede(context: PageContext, fields: Fields): Promise<Answer> {
  requireForms(context);
  const key = param(context, "key") ?? "";
  return submitStore(context, specOf(key, await factAt(context, key)), fields);
}

/** `fact`: absent if it was forgotten since the form was opened. */
function specOf(old: string, fact: FactView | undefined): StoreForm {
  return {
    title: `Supersede ${line(old)}`,
    about: html`The new fact replaces <strong>${line(old)}</strong>. The old value goes into the new fact's history.`,
    path: "/supersede",
    of: old,
    fields: {
      keyHint: "A short name for the new fact, different from the old key.",
      usualLife: "for 90 days",
    },
    verb: "Store and retire the old one",
    done: "superseded",
    input: (draft) => {
      if (draft.key.trim() !== old) return { ...inputOf(draft, fact), supersedes: [old] };
      const details = { field: "key" };
      throw new HelmdeckError(
        "invalid_input",
        "key must differ from the old fact's key. To change only the value, edit the fact.",
        { details },
      );
    },
  };
}
