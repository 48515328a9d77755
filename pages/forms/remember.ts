/** Stores a new fact. */
import { keyForText } from "../../app/presenters/key-for-text.ts";
import { type Answer, type Fields, type PageContext, requireForms } from "../page.ts";
import { inputOf, NO_DRAFT } from "./draft.ts";
import { factAt } from "./seen.ts";
import { type StoreForm, storeForm, submitStore } from "./store-flow.ts";

export async function rememberForm(context: PageContext): Promise<Answer> {
  requireForms(context);
  return storeForm(context, specOf(context), NO_DRAFT);
}

export function submitRemember(context: PageContext, fields: Fields): Promise<Answer> {
  return submitStore(context, specOf(context), fields);
}

function specOf(context: PageContext): StoreForm {
  return {
    title: "Remember something",
    about: "Your agent can find it as soon as it is stored.",
    path: "/remember",
    fields: {
      keyHint: "A short name, such as deploy/preference. If empty, it is made from the text.",
      usualLife: "for 90 days",
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
