/** Changing the value, category, tags or life of a fact. */
import { type FactView, HelmdeckError } from "../../app/index.ts";
import { notice } from "../components/parts.ts";
import { block, html, line } from "../html.ts";
import { type Answer, type Fields, type PageContext, param, requireForms } from "../page.ts";
import { draftOfFact, inputOf } from "./draft.ts";
import { endText } from "./ends.ts";
import { factAt, versionOf } from "./seen.ts";
import { type StoreForm, storeForm, submitStore } from "./store-flow.ts";

const LEAST_SECONDS = 3_600;
const MOST_SECONDS = 31_536_000;

export async function editForm(context: PageContext): Promise<Answer> {
  requireForms(context);
  const fact = await factToChange(context);
  const isSpelt = block(fact.value) !== fact.value || fact.tags.some((tag) => line(tag) !== tag);
  const above = isSpelt
    ? notice(
        "warn",
        html`It holds characters that hide or turn text. They are spelt out here, such as [U+202E]. If you change the text, it is stored as you see it here.`,
      )
    : undefined;
  return storeForm(context, specOf(context, fact), draftOfFact(fact), { ...(above && { above }) });
}

export async function submitEdit(context: PageContext, fields: Fields): Promise<Answer> {
  requireForms(context);
  return submitStore(context, specOf(context, await factToChange(context)), fields);
}

/** The one that the address names; throws `not_found`. */
export async function factToChange(context: PageContext): Promise<FactView> {
  const key = param(context, "key");
  const fact = key === undefined ? undefined : await factAt(context, key);
  if (fact !== undefined) return fact;
  throw new HelmdeckError(
    "not_found",
    "There is no such fact any longer: it has ended, was superseded, or was forgotten meanwhile. To have it again, go to the facts and remember it anew.",
  );
}

function specOf(context: PageContext, fact: FactView): StoreForm {
  const { key, expiresAt } = fact;
  return {
    title: `Edit ${line(key)}`,
    path: "/edit",
    of: key,
    fields: { usualLife: `as it is: it ends ${endText(context.now, expiresAt)}` },
    seen: versionOf([fact]),
    verb: "Save",
    done: "edited",
    input: (draft) => {
      const input = inputOf({ ...draft, key }, fact);
      return draft.life === "" ? { ...input, ttlSeconds: lifeLeft(context.now, expiresAt) } : input;
    },
  };
}

/** So that an edit leaves the end where it is, as near as a life may be. */
function lifeLeft(now: number, expiresAt: number | undefined): number {
  if (expiresAt === undefined) return MOST_SECONDS;
  return Math.min(MOST_SECONDS, Math.max(LEAST_SECONDS, Math.ceil((expiresAt - now) / 1_000)));
}
