/**
 * Changes many facts, and undoes that: those that somebody selected, those that expire soon, or all.
 *
 * One preview names them, and one confirmation is for exactly these. The keys of a selection come from the browser: they name facts of
 * the viewer's own memory, and nothing else. What was stored or changed after the preview stays as it is.
 */
import type { FactView, RenewedFacts, RenewFactsInput } from "../../app/memory.ts";
import { renewedText } from "../../app/presenters/ending-text.ts";
import { coveredText } from "../../app/presenters/forget-texts.ts";
import { forgetFacts } from "../../app/tidying.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { DEFAULT_CATEGORY } from "../../engine/facts/facts-policy.ts";
import { jsonListOf } from "../../engine/json.ts";
import { factRow } from "../components/fact-row.ts";
import { empty, hiddenFields, notice } from "../components/parts.ts";
import { type Html, html, line } from "../html.ts";
import { type Answer, type Fields, type Page, type PageContext, param, requireForms } from "../page.ts";
import { counted } from "../words.ts";
import { afterForget } from "./forget.ts";
import { changed, confirmed, factAt, question, revisionOf, stepButton, text } from "./form-parts.ts";

const WHICH: Readonly<Record<RenewFactsInput["which"], string>> = {
  expiring: "Renew all that expires soon",
  all: "Renew all facts",
  undo: "Undo the last change of many facts",
};

export async function renewalsForm(context: PageContext, problem?: Html): Promise<Page> {
  const { links } = context;
  const would = await change(context, { which: whichOf(context), dryRun: true });
  const { which, renewed, revision } = would;
  return question(context, {
    ...{ title: `Preview: ${WHICH[which]}`, about: "Nothing is changed yet.", section: "ending", problem },
    shown: notice("ok", renewedText(would)),
    ...{ action: links.to("/renewals", { which }), back: links.to("/ending") },
    carried: { revision: `${revision ?? ""}` },
    buttons: renewed === 0 ? [] : [stepButton("confirm", WHICH[which], "primary")],
  });
}

export async function submitRenewals(context: PageContext, fields: Fields): Promise<Answer> {
  const which = whichOf(context);
  const upTo = revisionOf(fields);
  const preview = (problem?: Html) => renewalsForm(context, problem);
  if (text(fields, "step") !== "confirm" || upTo === undefined) return preview();
  return confirmed(
    async () => changedMany(context, await change(context, { which, upTo }), "/ending"),
    preview,
  );
}

function whichOf(context: PageContext): RenewFactsInput["which"] {
  requireForms(context);
  const named = param(context, "which") ?? "";
  if (Object.hasOwn(WHICH, named)) return named as RenewFactsInput["which"]; // one of its own names
  throw new HelmdeckError("not_found", "There is no such page.");
}

function change(context: PageContext, input: RenewFactsInput): Promise<RenewedFacts> {
  const asker = { ...requireForms(context).writer, isPerson: true } as const;
  return context.memory.renewFacts(context.subject, input, asker);
}

/** The address afterwards. */
function changedMany({ links }: PageContext, result: RenewedFacts, path: string): string {
  const { which, renewed, newer, expiresAt } = result;
  const done = which === "undo" ? "restored" : expiresAt === undefined ? "categorised" : "renewedMany";
  return links.to(path, { done: renewed === 0 ? "nothingChanged" : done, newer });
}

const WHAT = {
  categorise: { verb: "Put them into the category", tone: "primary" },
  renew: { verb: "Renew them", tone: "primary" },
  forget: { verb: "Forget them for good", tone: "danger" },
} as const;
/** More than a page lists. */
const MOST_KEYS = 250;

/** What to do with a selection: the buttons of the list name it, and the confirmation carries it. */
interface Selection {
  readonly what: keyof typeof WHAT;
  readonly category: string;
  readonly facts: readonly FactView[];
}

export async function submitSelected(context: PageContext, fields: Fields): Promise<Answer> {
  const { memory, subject, viewer } = context;
  const { writer } = requireForms(context);
  const upTo = revisionOf(fields);
  const preview = (problem?: Html) => selectionPreview(context, fields, problem);
  if (text(fields, "step") !== "confirm") return preview();
  if (upTo === undefined) return changed(preview);
  return confirmed(async () => {
    const selection = await selectionIn(context, fields);
    if (selection.what !== "forget")
      return changedMany(context, await change(context, { ...inputOf(selection), upTo }), "/facts");
    const forgotten = await forgetFacts(memory, subject, selection.facts, { upTo }, writer);
    return afterForget(context, forgotten, viewer.notesHolding && { count: 0, isComplete: false });
  }, preview);
}

async function selectionIn(context: PageContext, fields: Fields): Promise<Selection> {
  const what = text(fields, "what") || text(fields, "step");
  if (!Object.hasOwn(WHAT, what)) throw new HelmdeckError("not_found", "There is no such page.");
  const keys = jsonListOf(text(fields, "chosen")).slice(0, MOST_KEYS);
  const found = await Promise.all(keys.map((key) => factAt(context, `${key}`)));
  const facts = found.filter((fact) => fact !== undefined);
  const category = text(fields, "category").trim() || DEFAULT_CATEGORY;
  return { what: what as Selection["what"], category, facts }; // one of its own names
}

function inputOf({ what, facts, category }: Selection): RenewFactsInput {
  const keys = facts.map(({ key }) => key);
  return { which: "all", keys, ...(what === "categorise" && { category }) };
}

async function selectionPreview(context: PageContext, fields: Fields, problem?: Html): Promise<Page> {
  const { links, memory, subject } = context;
  const revision = await memory.revision(subject); // before the facts are read
  const selection = await selectionIn(context, fields);
  const { what, facts, category } = selection;
  const { told, isNothing } = facts.length === 0 ? NONE : await would(context, selection);
  return question(context, {
    title: `Preview: ${WHAT[what].verb}`,
    about: `${counted(facts.length, "fact")} selected. Nothing is changed yet.`,
    ...{
      problem,
      shown: html`${told}<ul class="card rows">${facts.map((fact) => factRow(context, fact))}</ul>`,
    },
    ...{ action: links.to("/selected"), back: links.to("/facts") },
    carried: { what, category, revision: `${revision}` },
    extra: html`${facts.map(({ key }) => hiddenFields({ chosen: key }))}`,
    buttons: isNothing ? [] : [stepButton("confirm", WHAT[what].verb, WHAT[what].tone)],
  });
}

const NONE = {
  told: empty("No fact is selected.", "Go back, and select facts in the list."),
  isNothing: true,
};

async function would(context: PageContext, selection: Selection) {
  const { what, facts, category } = selection;
  const { memory, subject } = context;
  if (what === "forget") {
    const covered = await forgetFacts(memory, subject, facts, { dryRun: true });
    const told = html`This deletes <strong>${coveredText(covered)}</strong> for good, each with its history. This cannot be undone: the bytes are erased.`;
    return { told: notice("warn", told), isNothing: covered.deleted === 0 };
  }
  const result = await change(context, { ...inputOf(selection), dryRun: true });
  const isNothing = result.renewed === 0;
  const place =
    category === DEFAULT_CATEGORY
      ? "out of their categories"
      : html`into the category <strong>${line(category)}</strong>`;
  const [done, why] =
    what === "renew"
      ? [renewedText(result), "last as long already"]
      : [html`Would put ${counted(result.renewed, "fact")} ${place}.`, "are there already"];
  const left = facts.length - result.renewed;
  const stay = left > 0 && html` ${counted(left, "fact")} would not change: they ${why}.`;
  return {
    told: notice("ok", html`${done}${stay}${!isNothing && " You can undo this afterwards."}`),
    isNothing,
  };
}
