/** Gives a fact a new lifetime. */
import { endAfterRenewal, type FactView, type HelmdeckError } from "../../app/index.ts";
import { heading } from "../components/parts.ts";
import { html, line } from "../html.ts";
import { type Answer, type Fields, type Page, type PageContext, requireForms } from "../page.ts";
import { factToChange } from "./edit.ts";
import { expiryText } from "./expiry-text.ts";
import {
  actions,
  cancel,
  carried,
  form,
  lifeField,
  lifeOf,
  refusalNotice,
  requireRefusal,
  stepButton,
  text,
} from "./form-parts.ts";

export async function renewForm(context: PageContext): Promise<Answer> {
  requireForms(context);
  return chooseLife(context, await factToChange(context), "");
}

export async function submitRenew(context: PageContext, fields: Fields): Promise<Answer> {
  requireForms(context);
  const fact = await factToChange(context);
  const life = text(fields, "life");
  try {
    if (text(fields, "step") !== "confirm") return preview(context, fact, life);
    const ttlSeconds = lifeOf(life);
    const { key } = await context.memory.renewFact(context.subject, {
      key: fact.key,
      ...(ttlSeconds !== undefined && { ttlSeconds }),
    });
    return { location: context.links.to("/fact", { key, done: "renewed" }) };
  } catch (error) {
    return chooseLife(context, fact, life, requireRefusal(error));
  }
}

function chooseLife(context: PageContext, fact: FactView, life: string, error?: HelmdeckError): Page {
  const { links, now } = context;
  const title = `Renew ${line(fact.key)}`;
  const usual = "for 90 days, or its current lifetime if that is longer";
  const body = html`${heading(title, `It expires ${expiryText(now, fact.expiresAt)}. Nothing else changes.`)}${refusalNotice(error)}
${form(requireForms(context), links.to("/renew", { key: fact.key }), html`${lifeField(life, usual, error)}${actions(stepButton("preview", "Preview", "primary"), cancel(links.to("/fact", { key: fact.key })))}`)}`;
  return { title, section: "facts", body, status: error === undefined ? 200 : 400 };
}

function preview(context: PageContext, fact: FactView, life: string): Page {
  const { links, now } = context;
  const title = `Preview: Renew ${line(fact.key)}`;
  const body = html`${heading(title, "Nothing is changed yet.")}
<section class="card pad" aria-label="Expiry"><dl class="facts"><dt>Expires now</dt><dd>${expiryText(now, fact.expiresAt)}</dd><dt>Would expire</dt><dd>${expiryText(now, endAfterRenewal(fact, lifeOf(life), now))}</dd></dl></section>
${form(requireForms(context), links.to("/renew", { key: fact.key }), html`${carried({ life })}${actions(stepButton("confirm", "Renew", "primary"), cancel(links.to("/fact", { key: fact.key })))}`)}`;
  return { title, section: "facts", body };
}
