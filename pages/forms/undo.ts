/** Undoes the last store that changed a fact. */
import { HelmdeckError, isHelmdeckError } from "../../engine/errors.ts";
import { heading } from "../components/parts.ts";
import { html, line } from "../html.ts";
import { type Answer, type Fields, type Page, type PageContext, requireForms } from "../page.ts";
import { factToChange } from "./edit.ts";
import {
  actions,
  cancel,
  carried,
  form,
  refusalNotice,
  requireRefusal,
  revisionOf,
  sideBySide,
  stepButton,
} from "./form-parts.ts";

export async function undoPreview(context: PageContext): Promise<Answer> {
  requireForms(context);
  return preview(context);
}

export async function submitUndo(context: PageContext, fields: Fields): Promise<Answer> {
  requireForms(context);
  const { key: of } = await factToChange(context);
  const ifRevision = revisionOf(fields);
  if (ifRevision === undefined) return { ...(await preview(context, changed())), status: 409 };
  try {
    const { undone, restored } = await context.memory.undoFact(context.subject, { key: of, ifRevision });
    const key = restored.find((one) => one.key === undone.key)?.key ?? restored[0]?.key ?? undone.key;
    return { location: context.links.to("/fact", { key, done: "undone" }) };
  } catch (error) {
    if (isHelmdeckError(error, "changed_meanwhile"))
      return { ...(await preview(context, changed())), status: 409 };
    return preview(context, requireRefusal(error));
  }
}

function changed(): HelmdeckError {
  return new HelmdeckError(
    "invalid_input",
    "This fact has changed, by somebody else or in another window. Nothing was undone. Check the new preview.",
  );
}

async function preview(context: PageContext, error?: HelmdeckError): Promise<Page> {
  const { links, now, memory, subject } = context;
  const fact = await factToChange(context);
  const { undo = [] } = (await memory.factHistory(subject, { key: fact.key })) ?? {};
  const back = links.to("/fact", { key: fact.key });
  const title = `Preview: Undo ${line(fact.key)}`;
  if (undo.length === 0) {
    const none = html`${heading(title)}<p>There is nothing to undo: no former value is kept.</p><p><a href="${back}">Back to the fact</a></p>`;
    return { title, section: "facts", body: none };
  }
  const own = undo.find(({ key }) => key === fact.key);
  const others = undo.filter((former) => former !== own);
  const body = html`${heading(title, "Nothing is changed yet. This undoes the last store that changed the fact, and deletes the value it stored.")}${refusalNotice(error)}
${sideBySide(now, ["Now: will be deleted", fact], ["After", own])}
${others.map((former) => html`<h2>Restored: ${line(former.key)}</h2>${sideBySide(now, ["Now", undefined], ["After", former])}`)}
${form(requireForms(context), links.to("/undo", { key: fact.key }), html`${carried({ revision: `${fact.revision ?? ""}` })}${actions(stepButton("confirm", "Undo", "danger"), cancel(back))}`)}`;
  return { title, section: "facts", body, status: error === undefined ? 200 : 400 };
}
