/** Changes the value, category, tags or lifetime of a fact. */

import type { FactView } from "../../app/memory.ts";
import { keyForText } from "../../app/presenters/words.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { notice } from "../components/parts.ts";
import { block, html, line } from "../html.ts";
import { type Answer, type Fields, type PageContext, param, requireForms } from "../page.ts";
import { draftOfFact, inputOf, NO_DRAFT } from "./draft.ts";
import { factAt } from "./form-parts.ts";
import { type StoreForm, storeForm, submitStore } from "./store-flow.ts";

/** Stores a new fact. */
export async function rememberForm(context: PageContext): Promise<Answer> {
  requireForms(context);
  return storeForm(context, specOfRemember(context), NO_DRAFT);
}

export function submitRemember(context: PageContext, fields: Fields): Promise<Answer> {
  return submitStore(context, specOfRemember(context), fields);
}

function specOfRemember(context: PageContext): StoreForm {
  return {
    title: "Remember something",
    about: "Your agent can find it as soon as it is stored.",
    path: "/remember",
    fields: {
      keyHint: "A short name, such as deploy/preference. If empty, it is made from the text.",
      usualLife: "for the usual time",
    },
    verb: "Remember",
    done: "stored",
    input: async (draft) => {
      if (draft.key.trim() !== "") return inputOf(draft);
      return inputOf({ ...draft, key: await keyOf(draft.value.trim(), context) });
    },
  };
}

/** Without a text, any key will do: the refusal is about the text. */
async function keyOf(text: string, context: PageContext): Promise<string> {
  return text === "" ? "none" : keyForText(text, (name) => factAt(context, name));
}

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
  return storeForm(context, specOfEdit(fact.key, fact), draftOfFact(fact), { ...(above && { above }) });
}

export async function submitEdit(context: PageContext, fields: Fields): Promise<Answer> {
  requireForms(context);
  const key = param(context, "key") ?? "";
  return submitStore(context, specOfEdit(key, await factAt(context, key)), fields);
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
function specOfEdit(key: string, fact: FactView | undefined): StoreForm {
  return {
    title: `Edit ${line(key)}`,
    path: "/edit",
    of: key,
    fields: { usualLife: "as before; the usual time begins again" },
    seen: fact?.revision,
    verb: "Save",
    done: "edited",
    input: (draft) => inputOf({ ...draft, key }, fact),
  };
}

/** Stores a new fact that replaces another one. */
export async function supersedeForm(context: PageContext): Promise<Answer> {
  requireForms(context);
  const fact = await factToChange(context);
  return storeForm(context, specOfSupersede(fact.key, fact), { ...draftOfFact(fact), key: "" });
}

export async function submitSupersede(context: PageContext, fields: Fields): Promise<Answer> {
  requireForms(context);
  const key = param(context, "key") ?? "";
  return submitStore(context, specOfSupersede(key, await factAt(context, key)), fields);
}

/** `fact`: absent if it was forgotten since the form was opened. */
function specOfSupersede(old: string, fact: FactView | undefined): StoreForm {
  return {
    title: `Supersede ${line(old)}`,
    about: html`The new fact replaces <strong>${line(old)}</strong>. The old value goes into the new fact's history.`,
    path: "/supersede",
    of: old,
    fields: {
      keyHint: "A short name for the new fact, different from the old key.",
      usualLife: "for the usual time",
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
