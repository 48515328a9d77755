/** Changes of one fact that type no text: renews it, pins or unpins it, and undoes its last store. Each after a preview. */
import type { FactView } from "../../app/memory.ts";
import { defined } from "../../engine/defined.ts";
import { type HelmdeckError, isHelmdeckError } from "../../engine/errors.ts";
import { PIN_LIMITS } from "../../engine/projections/pinned-text.ts";
import { heading } from "../components/parts.ts";
import { block, type Html, html, line } from "../html.ts";
import { type Answer, type Fields, type Page, type PageContext, requireForms } from "../page.ts";
import {
  actions,
  cancel,
  changed,
  confirmed,
  expiryText,
  factToChange,
  form,
  lifeField,
  lifeOf,
  question,
  refusalNotice,
  requireRefusal,
  revisionOf,
  sideBySide,
  stepButton,
  text,
} from "./form-parts.ts";

/** The form's address, the way back to the fact, and the revision that was shown. */
function about({ links }: PageContext, path: string, { key, revision }: FactView) {
  return {
    action: links.to(path, { key }),
    back: links.to("/fact", { key }),
    carried: { revision: `${revision ?? ""}` },
  };
}

export async function pinForm(context: PageContext, problem?: Html): Promise<Page> {
  requireForms(context);
  const fact = await factToChange(context);
  return question(context, {
    ...about(context, "/pin", fact),
    title: `${fact.pinned ? "Pinned" : "Pin"}: ${line(fact.key)}`,
    about: `A pinned fact stands in every prompt of its agent, for a year. At most ${PIN_LIMITS.facts} facts, of about ${PIN_LIMITS.tokens} tokens together.`,
    problem,
    shown: html`<section class="card" aria-label="Value"><pre class="value">${block(fact.value)}</pre><p class="label">Expires ${expiryText(context.now, fact.expiresAt)}</p></section>`,
    buttons: fact.pinned
      ? [stepButton("pin", "Keep it another year", "primary"), stepButton("unpin", "Unpin")]
      : [stepButton("pin", "Pin", "primary")],
  });
}

export async function submitPin(context: PageContext, fields: Fields): Promise<Answer> {
  const { writer } = requireForms(context);
  const { key } = await factToChange(context);
  const ifRevision = revisionOf(fields);
  const step = text(fields, "step");
  const pinned = step !== "unpin";
  if (ifRevision === undefined || (step !== "pin" && pinned)) return pinForm(context);
  return confirmed(
    async () => {
      const asker = { ...writer, isPerson: true } as const;
      await context.memory.pinFact(context.subject, { key, pinned, ifRevision }, asker);
      return context.links.to("/fact", { key, done: pinned ? "pinned" : "unpinned" });
    },
    (problem) => pinForm(context, problem),
  );
}

export async function renewForm(context: PageContext): Promise<Answer> {
  requireForms(context);
  return chooseLife(context, await factToChange(context), "");
}

export async function submitRenew(context: PageContext, fields: Fields): Promise<Answer> {
  const { writer } = requireForms(context);
  const fact = await factToChange(context);
  const life = text(fields, "life");
  const given = { key: fact.key, ...defined({ ttlSeconds: lifeOf(life) }) };
  const renew = (more: { readonly dryRun?: boolean; readonly ifRevision?: number }) =>
    context.memory.renewFact(context.subject, { ...given, ...more }, { ...writer, isPerson: true });
  const preview = (problem?: Html) => renewal(context, life, () => renew({ dryRun: true }), problem);
  try {
    const ifRevision = revisionOf(fields);
    if (text(fields, "step") !== "confirm" || ifRevision === undefined) return await preview();
    const { key } = await renew({ ifRevision });
    return { location: context.links.to("/fact", { key, done: "renewed" }) };
  } catch (error) {
    if (isHelmdeckError(error, "changed_meanwhile")) return changed(preview);
    return chooseLife(context, fact, life, requireRefusal(error));
  }
}

function chooseLife(context: PageContext, fact: FactView, life: string, error?: HelmdeckError): Page {
  const title = `Renew ${line(fact.key)}`;
  const { action, back } = about(context, "/renew", fact);
  const usual = "for the usual time, or its current lifetime if that is longer";
  const body = html`${heading(title, html`It expires ${expiryText(context.now, fact.expiresAt)}. Nothing else changes.`)}${refusalNotice(error)}
${form(requireForms(context), action, html`${lifeField(life, usual, error)}${actions(stepButton("preview", "Preview", "primary"), cancel(back))}`)}`;
  return { title, section: "facts", body, status: error === undefined ? 200 : 400 };
}

/** Of the fact as it is now. `would` comes after it: what changes in between, the confirmation refuses. */
async function renewal(
  context: PageContext,
  life: string,
  would: () => Promise<FactView>,
  problem?: Html,
): Promise<Page> {
  const { now } = context;
  const fact = await factToChange(context);
  const { expiresAt } = await would();
  const { carried, ...places } = about(context, "/renew", fact);
  return question(context, {
    ...{ ...places, title: `Preview: Renew ${line(fact.key)}`, about: "Nothing is changed yet.", problem },
    shown: html`<section class="card pad" aria-label="Expiry"><dl class="facts">${problem !== undefined && html`<dt>Value now</dt><dd>${block(fact.value)}</dd>`}<dt>Expires now</dt><dd>${expiryText(now, fact.expiresAt)}</dd><dt>Would expire</dt><dd>${expiryText(now, expiresAt)}</dd></dl></section>`,
    carried: { ...carried, life },
    buttons: [stepButton("confirm", "Renew", "primary")],
  });
}

export async function undoForm(context: PageContext, problem?: Html): Promise<Page> {
  requireForms(context);
  const { now, memory, subject } = context;
  const fact = await factToChange(context);
  const { undo = [] } = (await memory.factHistory(subject, { key: fact.key })) ?? {};
  const places = about(context, "/undo", fact);
  const title = `Preview: Undo ${line(fact.key)}`;
  if (undo.length === 0) {
    const none = html`${heading(title)}<p>There is nothing to undo: no former value is kept.</p><p><a href="${places.back}">Back to the fact</a></p>`;
    return { title, section: "facts", body: none };
  }
  const own = undo.find(({ key }) => key === fact.key);
  const others = undo.filter((former) => former !== own);
  return question(context, {
    ...{ ...places, title, problem },
    about:
      "Nothing is changed yet. This undoes the last store that changed the fact, and deletes the value it stored.",
    shown: html`${sideBySide(now, ["Now: will be deleted", fact], ["After", own])}
${others.map((former) => html`<h2>Restored: ${line(former.key)}</h2>${sideBySide(now, ["Now", undefined], ["After", former])}`)}`,
    buttons: [stepButton("confirm", "Undo", "danger")],
  });
}

export async function submitUndo(context: PageContext, fields: Fields): Promise<Answer> {
  requireForms(context);
  const { key: of } = await factToChange(context);
  const preview = (problem?: Html) => undoForm(context, problem);
  const ifRevision = revisionOf(fields);
  if (ifRevision === undefined) return changed(preview);
  return confirmed(async () => {
    const { undone, restored } = await context.memory.undoFact(context.subject, { key: of, ifRevision });
    const key = restored.find((one) => one.key === undone.key)?.key ?? restored[0]?.key ?? undone.key;
    return context.links.to("/fact", { key, done: "undone" });
  }, preview);
}
