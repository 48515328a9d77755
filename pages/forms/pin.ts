/** Pins a fact, keeps a pinned one for another year, or unpins it. */
import { isHelmdeckError } from "../../engine/errors.ts";
import { PIN_LIMITS } from "../../engine/projections/pinned-text.ts";
import { heading, notice } from "../components/parts.ts";
import { block, type Html, html, line } from "../html.ts";
import { type Answer, type Fields, type Page, type PageContext, requireForms } from "../page.ts";
import { factToChange } from "./edit.ts";
import {
  actions,
  cancel,
  carried,
  expiryText,
  form,
  refusalNotice,
  requireRefusal,
  revisionOf,
  stepButton,
  text,
} from "./form-parts.ts";

export async function pinForm(context: PageContext): Promise<Answer> {
  requireForms(context);
  return preview(context);
}

export async function submitPin(context: PageContext, fields: Fields): Promise<Answer> {
  const { writer } = requireForms(context);
  const { key } = await factToChange(context);
  const ifRevision = revisionOf(fields);
  const step = text(fields, "step");
  const pinned = step !== "unpin";
  if (ifRevision === undefined || (step !== "pin" && pinned)) return preview(context);
  try {
    const asker = { ...writer, isPerson: true } as const;
    await context.memory.pinFact(context.subject, { key, pinned, ifRevision }, asker);
    return { location: context.links.to("/fact", { key, done: pinned ? "pinned" : "unpinned" }) };
  } catch (error) {
    if (isHelmdeckError(error, "changed_meanwhile"))
      return { ...(await preview(context, notice("bad", CHANGED))), status: 409 };
    return { ...(await preview(context, refusalNotice(requireRefusal(error)))), status: 400 };
  }
}

const CHANGED =
  "This fact has changed, by somebody else or in another window. Nothing was pinned or unpinned. Check it again.";

async function preview(context: PageContext, problem?: Html): Promise<Page> {
  const { links, now } = context;
  const fact = await factToChange(context);
  const title = `${fact.pinned ? "Pinned" : "Pin"}: ${line(fact.key)}`;
  const about = `A pinned fact stands in every prompt of its agent, for a year. At most ${PIN_LIMITS.facts} facts, of about ${PIN_LIMITS.tokens} tokens together.`;
  const buttons = fact.pinned
    ? [stepButton("pin", "Keep it another year", "primary"), stepButton("unpin", "Unpin")]
    : [stepButton("pin", "Pin", "primary")];
  const body = html`${heading(title, about)}${problem}
<section class="card" aria-label="Value"><pre class="value">${block(fact.value)}</pre><p class="label">Expires ${expiryText(now, fact.expiresAt)}</p></section>
${form(requireForms(context), links.to("/pin", { key: fact.key }), html`${carried({ revision: `${fact.revision ?? ""}` })}${actions(...buttons, cancel(links.to("/fact", { key: fact.key })))}`)}`;
  return { title, section: "facts", body };
}
