/** Gives a fact a new lifetime. */

import type { FactView } from "../../app/memory.ts";
import { defined } from "../../engine/defined.ts";
import { type HelmdeckError, isHelmdeckError } from "../../engine/errors.ts";
import { heading, notice } from "../components/parts.ts";
import { block, html, line } from "../html.ts";
import { type Answer, type Fields, type Page, type PageContext, requireForms } from "../page.ts";
import { factToChange } from "./edit.ts";
import {
  actions,
  cancel,
  carried,
  expiryText,
  form,
  lifeField,
  lifeOf,
  refusalNotice,
  requireRefusal,
  revisionOf,
  stepButton,
  text,
} from "./form-parts.ts";

export async function renewForm(context: PageContext): Promise<Answer> {
  requireForms(context);
  return chooseLife(context, await factToChange(context), "");
}

export async function submitRenew(context: PageContext, fields: Fields): Promise<Answer> {
  const { writer } = requireForms(context);
  const fact = await factToChange(context);
  const life = text(fields, "life");
  try {
    const ifRevision = revisionOf(fields);
    if (text(fields, "step") !== "confirm" || ifRevision === undefined)
      return await preview(context, fact, life);
    const input = { key: fact.key, ...defined({ ttlSeconds: lifeOf(life) }), ifRevision };
    const { key } = await context.memory.renewFact(context.subject, input, { ...writer, isPerson: true });
    return { location: context.links.to("/fact", { key, done: "renewed" }) };
  } catch (error) {
    if (isHelmdeckError(error, "changed_meanwhile"))
      return preview(context, await factToChange(context), life, CHANGED);
    return chooseLife(context, fact, life, requireRefusal(error));
  }
}

function chooseLife(context: PageContext, fact: FactView, life: string, error?: HelmdeckError): Page {
  const { links, now } = context;
  const title = `Renew ${line(fact.key)}`;
  const usual = "for the usual time, or its current lifetime if that is longer";
  const body = html`${heading(title, `It expires ${expiryText(now, fact.expiresAt)}. Nothing else changes.`)}${refusalNotice(error)}
${form(requireForms(context), links.to("/renew", { key: fact.key }), html`${lifeField(life, usual, error)}${actions(stepButton("preview", "Preview", "primary"), cancel(links.to("/fact", { key: fact.key })))}`)}`;
  return { title, section: "facts", body, status: error === undefined ? 200 : 400 };
}

const CHANGED =
  "This fact has changed, by somebody else or in another window. Nothing was renewed. Check the new preview.";

async function preview(context: PageContext, fact: FactView, life: string, changed?: string): Promise<Page> {
  const { links, now, memory, subject } = context;
  const asked = { key: fact.key, ...defined({ ttlSeconds: lifeOf(life) }), dryRun: true };
  const { expiresAt } = await memory.renewFact(subject, asked, {
    ...requireForms(context).writer,
    isPerson: true,
  });
  const title = `Preview: Renew ${line(fact.key)}`;
  const body = html`${heading(title, "Nothing is changed yet.")}${changed !== undefined && notice("bad", changed)}
<section class="card pad" aria-label="Expiry"><dl class="facts">${changed !== undefined && html`<dt>Value now</dt><dd>${block(fact.value)}</dd>`}<dt>Expires now</dt><dd>${expiryText(now, fact.expiresAt)}</dd><dt>Would expire</dt><dd>${expiryText(now, expiresAt)}</dd></dl></section>
${form(requireForms(context), links.to("/renew", { key: fact.key }), html`${carried({ life, revision: `${fact.revision ?? ""}` })}${actions(stepButton("confirm", "Renew", "primary"), cancel(links.to("/fact", { key: fact.key })))}`)}`;
  return { title, section: "facts", body, status: changed === undefined ? 200 : 409 };
}
