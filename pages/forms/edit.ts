/** Changes the value, category, tags or lifetime of a fact. */
import { type FactView, HelmdeckError } from "../../app/index.ts";
import { notice } from "../components/parts.ts";
import { block, html, line } from "../html.ts";
import { type Answer, type Fields, type PageContext, param, requireForms } from "../page.ts";
import { draftOfFact, inputOf } from "./draft.ts";
import { expiryText } from "./expiry-text.ts";
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
        html`This text has characters that hide or reverse text. They are shown escaped, such as [U+202E]. If you change the text, it is stored as shown here.`,
      )
    : undefined;
  return storeForm(context, specOf(context, fact), draftOfFact(fact), { ...(above && { above }) });
}

export async function submitEdit(context: PageContext, fields: Fields): Promise<Answer> {
  requireForms(context);
  return submitStore(context, specOf(context, await factToChange(context)), fields);
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

function specOf(context: PageContext, fact: FactView): StoreForm {
  const { key, expiresAt } = fact;
  return {
    title: `Edit ${line(key)}`,
    path: "/edit",
    of: key,
    fields: { usualLife: `unchanged: it expires ${expiryText(context.now, expiresAt)}` },
    seen: versionOf([fact]),
    verb: "Save",
    done: "edited",
    input: (draft) => {
      const input = inputOf({ ...draft, key }, fact);
      return draft.life === "" ? { ...input, ttlSeconds: lifeLeft(context.now, expiresAt) } : input;
    },
  };
}

/** The remaining lifetime, within the allowed bounds, so that an edit keeps the expiry. */
function lifeLeft(now: number, expiresAt: number | undefined): number {
  if (expiresAt === undefined) return MOST_SECONDS;
  return Math.min(MOST_SECONDS, Math.max(LEAST_SECONDS, Math.ceil((expiresAt - now) / 1_000)));
}
