/** Merges facts, and keeps facts apart. What is confirmed is what its preview showed: the store judges the revision that it carries. */

import type { FactView } from "../../app/memory.ts";
import { apartPreview, mergePreview } from "../../app/presenters/tidy-text.ts";
import { mergeFacts } from "../../app/tidying.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { jsonListOf } from "../../engine/json.ts";
import type { Done } from "../components/changes.ts";
import { block, type Html, html, line } from "../html.ts";
import { type Answer, type Fields, type Page, type PageContext, param, requireForms } from "../page.ts";
import { confirmed, factAt, factToChange, question, revisionOf, stepButton, text } from "./form-parts.ts";

/** One of the two forms, over the facts of its address. */
interface TidyForm {
  readonly path: string;
  readonly params: Readonly<Record<string, string | undefined>>;
  readonly title: string;
  readonly about: string;
  readonly verb: string;
  readonly facts: readonly (readonly [name: string, fact: FactView])[];
  readonly done: Done;
  /** Of the address afterwards, for the way back. */
  readonly after: Readonly<Record<string, string | undefined>>;
  readonly perform: (upTo: number) => Promise<unknown>;
}

type FormOf = (context: PageContext) => Promise<TidyForm>;

const merging: FormOf = async (context) => {
  const { memory, subject } = context;
  const { writer } = requireForms(context);
  const fact = await factToChange(context);
  const others = await factsNamed(context, "over");
  const over = others.map(({ key }) => key);
  return {
    ...{ path: "/merge", params: { key: fact.key, over: JSON.stringify(over) } },
    ...{ title: `Keep ${line(fact.key)}`, about: mergePreview(fact, others), verb: "Merge" },
    facts: [["Stays", fact], ...others.map((other) => ["Becomes its history", other] as const)],
    ...{ done: "merged", after: { key: fact.key } },
    perform: (upTo) => mergeFacts(memory, subject, { key: fact.key, over, upTo }, writer),
  };
};

const keepingApart: FormOf = async (context) => {
  const { memory, subject } = context;
  requireForms(context);
  const facts = await factsNamed(context, "keys");
  const keys = facts.map(({ key }) => key);
  const isAgain = param(context, "again") !== undefined;
  const address = JSON.stringify(keys);
  return {
    ...{ path: "/apart", params: { keys: address, again: isAgain ? "1" : undefined } },
    title: isAgain ? "Show them again" : `Keep ${facts.length === 2 ? "both" : "all"}`,
    about: isAgain ? AGAIN : apartPreview(facts),
    verb: isAgain ? "Show them again" : "Keep them",
    facts: facts.map((fact) => ["Stays", fact] as const),
    ...{ done: isAgain ? "again" : "apart", after: { keys: isAgain ? undefined : address } },
    perform: (upTo) => memory.keepApart(subject, { keys, apart: !isAgain, ...(!isAgain && { upTo }) }),
  };
};

const AGAIN =
  "These facts are shown beside each other again, if they still say the same or contradict each other.";

export const mergeForm = (context: PageContext) => previewOf(context, merging);
export const submitMerge = (context: PageContext, fields: Fields) => submit(context, fields, merging);
export const apartForm = (context: PageContext) => previewOf(context, keepingApart);
export const submitApart = (context: PageContext, fields: Fields) => submit(context, fields, keepingApart);

/** Those that exist. Throws `not_found` if there are not enough for a question. */
async function factsNamed(context: PageContext, name: "over" | "keys"): Promise<readonly FactView[]> {
  const facts = await Promise.all(keysIn(param(context, name)).map((key) => factAt(context, key)));
  const there = facts.filter((fact) => fact !== undefined);
  if (there.length >= (name === "over" ? 1 : 2)) return there;
  throw new HelmdeckError(
    "not_found",
    "These facts no longer exist: there is nothing to settle between them.",
  );
}

function keysIn(json = "[]"): readonly string[] {
  return jsonListOf(json)
    .filter((key) => typeof key === "string")
    .slice(0, MOST_KEYS);
}

const MOST_KEYS = 10;

async function submit(context: PageContext, fields: Fields, formOf: FormOf): Promise<Answer> {
  const tidy = await formOf(context);
  const upTo = revisionOf(fields, "up_to");
  if (upTo === undefined || text(fields, "step") !== "confirm") return previewOf(context, formOf);
  return confirmed(
    async () => {
      await tidy.perform(upTo);
      return context.links.to("/tidy", { done: tidy.done, ...tidy.after });
    },
    (problem) => previewOf(context, formOf, problem),
  );
}

async function previewOf(context: PageContext, formOf: FormOf, problem?: Html): Promise<Page> {
  const { links, memory, subject } = context;
  const revision = await memory.revision(subject); // before the facts are read
  const { path, params, title, about, verb, facts } = await formOf(context);
  return question(context, {
    ...{ title: `Preview: ${title}`, about, section: "tidy", problem },
    shown: html`${facts.map(([name, { key, value }]) => html`<section class="card" aria-label="${name}: ${line(key)}"><p class="label">${name}: ${line(key)}</p><pre class="value">${block(value)}</pre></section>`)}`,
    ...{ action: links.to(path, params), back: links.to("/tidy"), carried: { up_to: `${revision}` } },
    buttons: [stepButton("confirm", verb, "primary")],
  });
}
